// SPDX-License-Identifier: BSD-3-Clause
/* A program that is no more than the library with ptx.c and the PTX compiler inside. */
int ptx_main(int argc, char **argv);

int main(int argc, char **argv)
{
	return ptx_main(argc, argv);
}
