const MAPPED = "::ffff:";

/** The address of a client as people write it: a listener on all addresses is told those of IPv4 in a form of IPv6. */
export function clientAddress({ ip }: { readonly ip: string }): string {
  return ip.startsWith(MAPPED) && ip.includes(".") ? ip.slice(MAPPED.length) : ip;
}
