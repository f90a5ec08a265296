import { once } from "node:events";
import { createServer } from "node:net";

const ALL: ReadonlySet<string> = new Set(["::", "0.0.0.0"]);
const LOOPBACK = /^(?:127\..*|::1)$/;

/**
 * Returns the address that stands for all addresses: `::`, or `0.0.0.0` if the machine has no IPv6. Node finds out
 * which.
 */
export async function allAddresses(): Promise<string> {
  const probe = createServer().listen(0);
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  return typeof address === "object" && address !== null ? address.address : "::";
}

/** True if only this machine reaches a listener on that address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * Returns the address by which a listener is called on its own machine, since an address that stands for all cannot be
 * called.
 */
export function callableAddress(address: string): string {
  return ALL.has(address) ? "127.0.0.1" : address;
}
