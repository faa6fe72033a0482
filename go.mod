module ds2

go 1.26
