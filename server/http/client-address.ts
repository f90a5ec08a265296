const MAPPED = "::ffff:";

/**
 * Returns the address of a client as people write it. A listener on all addresses gets addresses of IPv4 in a form of
 * IPv6.
 *
 * @param ip undefined for a connection that was reset, whatever the framework's type says
 */
export function clientAddress({ ip }: { readonly ip: string | undefined }): string {
  if (ip === undefined) return "unknown";
  return ip.startsWith(MAPPED) && ip.includes(".") ? ip.slice(MAPPED.length) : ip;
}
