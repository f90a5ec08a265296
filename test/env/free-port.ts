import { once } from "node:events";
import { createServer } from "node:net";

/** A loopback port that no process listens on at the moment. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error("no loopback port to be had");
  return port;
}

/** As many of them, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const probes = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(probes.map((probe) => once(probe, "listening")));
  const addresses = probes.map((probe) => probe.address());
  await Promise.all(
    probes.map((probe) => {
      probe.close();
      return once(probe, "close");
    }),
  );
  return addresses.map((address) => (typeof address === "object" && address !== null ? address.port : 0));
}
