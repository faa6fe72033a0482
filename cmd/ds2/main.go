// Command ds2 is the whole kit: one file per subcommand, nothing but flags, wiring and printing.
package main

func main() {}
