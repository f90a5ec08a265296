const MAPPED = "::ffff:";

/**
 * The address of a client as people write it: a listener on all addresses is told those of IPv4 in a form of IPv6.
 *
 * @param ip undefined of a connection that was reset, whatever the framework's type says of it
 */
export function clientAddress({ ip }: { readonly ip: string | undefined }): string {
  if (ip === undefined) return "unknown";
  return ip.startsWith(MAPPED) && ip.includes(".") ? ip.slice(MAPPED.length) : ip;
}
