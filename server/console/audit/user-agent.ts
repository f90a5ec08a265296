/** Browsers by what their User-Agent contains. The first match decides, since some browsers name others too. */
const BROWSERS = [
  ["Edge", /\bEdgA?\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ["Safari", /\bVersion\/\S+(?: Mobile\/\S+)? Safari\//],
] as const;
const SYSTEMS = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac ?OS X\b/],
  ["Linux", /\bLinux\b/],
] as const;

/**
 * Returns a User-Agent in a short form: the browser and its system, such as `Chrome on Linux`, or the first word of any
 * other program, such as `curl 8.5.0`. A User-Agent proves nothing, as each caller chooses its own.
 */
export function userAgentWords(userAgent: string): string {
  const find = (names: readonly (readonly [string, RegExp])[]) => names.find(([, has]) => has.test(userAgent))?.[0];
  if (!userAgent.startsWith("Mozilla/")) {
    const [first = ""] = userAgent.trim().split(/\s+/, 1);
    return first.replace("/", " ");
  }
  const [browser, system] = [find(BROWSERS) ?? "A browser", find(SYSTEMS)];
  return system === undefined ? browser : `${browser} on ${system}`;
}
