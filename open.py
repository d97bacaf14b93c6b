import os, sys
n=int(sys.argv[2])
fl = os.O_RDONLY if sys.argv[1]=="r" else os.O_WRONLY|os.O_CREAT
for i in range(n):
    os.close(os.open("one", fl, 0o644))
