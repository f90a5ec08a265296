/**
 * True if a resource version is later than another of the same collection. Kubernetes lets clients compare them as
 * whole numbers (KEP-5504). A version that is no whole number counts as later, so that it holds nothing back.
 */
export function isLater(version: string, than: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return true;
  return version.length === than.length ? version > than : version.length > than.length;
}
