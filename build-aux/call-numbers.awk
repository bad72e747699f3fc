# SPDX-License-Identifier: GPL-2.0-or-later
# From nfd-source/base/call_filter.list to the entries of a table in C: a call that the headers of this architecture do not
# know has no number there, and is passed over.
/^#/ || NF == 0 { next }
{
	for (i = 2; i <= NF; i++)
		printf "#ifdef __NR_%s\n\t{ __NR_%s, %s },\n#endif\n", $i, $i, $1
}
