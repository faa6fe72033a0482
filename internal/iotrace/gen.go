//go:build linux

package iotrace

//go:generate -command cc go run github.com/cilium/ebpf/cmd/bpf2go@v0.22.0 -target bpfel -tags linux -output-stem kernel
//go:generate cc kernel iotrace.bpf.c -- -O2 -g -mcpu=v3 -Wall -Wno-unused-value -I/usr/include/x86_64-linux-gnu
