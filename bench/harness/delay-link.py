"""A link between this network namespace and another that holds every packet for a while: `delay-link.py DEVICE_HERE DEVICE_THERE DELAY_MS`.

Both devices are TUN devices made here; the caller moves the second one to its namespace. Packets are passed on as the kernel hands them over, with
their offload header (up to 64 KB at once), so that the TCP of both ends is the real one: its slow start, its windows and its loss recovery. Python,
because Node has no ioctl. Prints `ready`; ends when its standard input does.
"""
import collections, fcntl, os, select, struct, sys, time

TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
CHECKSUM, TCP4 = 0x01, 0x02
PACKET_BYTES = 65_536 + 64


def open_device(name):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI | IFF_VNET_HDR))
    fcntl.ioctl(device, TUNSETOFFLOAD, CHECKSUM | TCP4)
    return device


here, there = open_device(sys.argv[1]), open_device(sys.argv[2])
delay = float(sys.argv[3]) / 1000
onward = {here: there, there: here}
held = collections.deque()
print("ready", flush=True)
poll = select.poll()
for descriptor in (here, there, 0):
    poll.register(descriptor, select.POLLIN)
while True:
    wait = max(0.0, held[0][0] - time.monotonic()) if held else None
    events = poll.poll(None if wait is None else wait * 1000)
    for descriptor, _ in events:
        if descriptor == 0:
            sys.exit(0)
        try:
            for _ in range(64):
                held.append((time.monotonic() + delay, onward[descriptor], os.read(descriptor, PACKET_BYTES)))
        except BlockingIOError:
            pass
    while held and held[0][0] <= time.monotonic():
        _, to, packet = held.popleft()
        try:
            os.write(to, packet)
        except OSError:
            pass  # A device that is down or full loses packets, as a link does.
