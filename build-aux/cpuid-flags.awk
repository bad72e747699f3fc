# SPDX-License-Identifier: GPL-2.0-or-later
# From nfd-source/scan/cpuid-flags.tsv to three lists of macro calls in C, of which nfd-source/scan/cpuid.c takes what
# it defines: CPUID_FLAG(name), CPUID_CONDITION(number, expression) and CPUID_RULE(flag, vendor, leaf, sub-leaf, register,
# mask, is_clear, least leaf, condition). CPUID_DENIED is the default deny list. A word in a condition that is neither a flag
# nor one of the facts below ends the build.
BEGIN {
	FS = "\t"
	split("OSAVX OSAVX512 THREADS PMUVER NFIXED family model", list, " ")
	for (i in list)
		is_fact[list[i]] = 1
}
/^#/ || $1 == "name" { next }
NF != 8 { fail("8 columns expected") }
{
	count++
	for (i = 1; i <= 8; i++)
		field[count, i] = $i
	if (!($1 in is_flag)) {
		flag[++flags] = $1
		is_flag[$1] = 1
		if ($7 == "yes")
			denied[++denials] = $1
	}
}

function fail(what) {
	print FILENAME ":" FNR ": " what >"/dev/stderr"
	broken = 1
	exit 1
}

# One word of a condition in C.
function translate_word(word) {
	if (word in is_flag)
		return "HAS(" word ")"
	if (word in is_fact)
		return "FACT(" tolower(word) ")"
	if (word == "value" || word == "EBX")
		return "VALUE"
	fail("unknown word \"" word "\" in the condition of " current)
}

# A condition in C: words, numbers, operators of two characters instead of one.
function translate(text,    out, word) {
	if (match(text, /^string==/))
		return "TEXT_IS(" substr(text, 9) ")"
	out = ""
	while (text != "") {
		if (match(text, /^[A-Za-z_][A-Za-z0-9_]*/)) {
			word = substr(text, 1, RLENGTH)
			out = out translate_word(word)
		} else if (match(text, /^[0-9][0-9A-Za-z]*/)) {
			out = out substr(text, 1, RLENGTH) "u"
		} else if (match(text, /^[|]/)) {
			out = out " || "
		} else if (match(text, /^&/)) {
			out = out " && "
		} else if (match(text, /^(==|!=|<=|>=)/)) {
			out = out " " substr(text, 1, RLENGTH) " "
		} else if (match(text, /^[<>]/)) {
			out = out " " substr(text, 1, RLENGTH) " "
		} else if (match(text, /^[()]/)) {
			out = out substr(text, 1, RLENGTH)
		} else {
			fail("cannot read \"" text "\" in the condition of " current)
		}
		text = substr(text, RLENGTH + 1)
	}
	return out
}

# Splits the condition of a row: sets "least" and "is_clear", returns the rest in C.
function split_condition(text,    part, n, i, out) {
	least = "0"
	is_clear = "false"
	out = ""
	n = text == "-" ? 0 : split(text, part, ";")
	for (i = 1; i <= n; i++) {
		if (part[i] == "all-bits")
			continue
		if (part[i] == "bit-clear")
			is_clear = "true"
		else if (part[i] ~ /^max(leaf|ext)>=0x[0-9a-f]+$/)
			least = substr(part[i], index(part[i], "0x")) "u"
		else
			out = out (out == "" ? "" : " && ") "(" translate(part[i]) ")"
	}
	return out
}

# "12+27" as a mask.
function mask(bits,    part, n, i, out) {
	if (bits == "-")
		return "0"
	n = split(bits, part, "+")
	out = ""
	for (i = 1; i <= n; i++)
		out = out (i > 1 ? " | " : "") "BIT(" part[i] ")"
	return out
}

function register_name(name) {
	if (name == "EBX,EDX,ECX")
		return "TEXT"
	return name == "-" ? "NONE" : name
}

function number_of(expression) {
	if (expression == "")
		return 0
	if (!(expression in number)) {
		condition[++conditions] = expression
		number[expression] = conditions
	}
	return number[expression]
}

function print_list(macro, list, n,    i) {
	print "#ifdef " macro
	for (i = 1; i <= n; i++)
		print macro "(" list[i] ")"
	print "#undef " macro "\n#endif"
}

# Insertion sort, as awk has none of its own.
function sort(list, n,    i, j, text) {
	for (i = 2; i <= n; i++) {
		text = list[i]
		for (j = i - 1; j >= 1 && list[j] > text; j--)
			list[j + 1] = list[j]
		list[j + 1] = text
	}
}

END {
	if (broken)
		exit 1
	for (i = 1; i <= count; i++) {
		current = field[i, 1]
		expression = split_condition(field[i, 8])
		rule[i] = current ", " toupper(field[i, 2]) ", " \
			(field[i, 3] == "-" ? "0" : field[i, 3] "u") ", " (field[i, 4] == "-" ? "0" : field[i, 4]) ", " \
			register_name(field[i, 5]) ", " mask(field[i, 6]) ", " is_clear ", " least ", " number_of(expression)
	}
	for (i = 1; i <= conditions; i++)
		condition[i] = i ", " condition[i]
	sort(denied, denials)
	print_list("CPUID_FLAG", flag, flags)
	print_list("CPUID_CONDITION", condition, conditions)
	print_list("CPUID_RULE", rule, count)
	printf "#define CPUID_DENIED \""
	for (i = 1; i <= denials; i++)
		printf "%s%s", (i > 1 ? "," : ""), denied[i]
	print "\""
}
