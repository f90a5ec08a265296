/** Programs whose names stand in the User-Agent of a browser, those first that also name another. */
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
 * A User-Agent as people say it, such as `Chrome on Linux`: of a browser by its name and its system, of any other program
 * by its first word, as `curl 8.5.0`. What a caller says of itself proves nothing.
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
