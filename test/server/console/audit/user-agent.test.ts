import { expect, test } from "vitest";
import { userAgentWords } from "../../../../server/console/audit/user-agent.ts";

const ON_LINUX = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)";
const ON_MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)";

test.each([
  ["Chrome on Linux", `${ON_LINUX} Chrome/141.0.0.0 Safari/537.36`],
  ["Chrome on Linux", `${ON_LINUX} HeadlessChrome/141.0.0.0 Safari/537.36`],
  [
    "Edge on Windows",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/141.0 Safari/537.36 Edg/141.0",
  ],
  ["Safari on macOS", `${ON_MAC} Version/18.1 Safari/605.1.15`],
  [
    "Safari on iPhone",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605 Version/18.1 Mobile/15E148 Safari/604.1",
  ],
  ["Firefox on Windows", "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0"],
  ["Chrome on Android", "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Chrome/141.0.0.0 Mobile Safari/537.36"],
  ["A browser", "Mozilla/5.0 (compatible)"],
  ["curl 8.5.0", "curl/8.5.0"],
  ["openai-python 2.8.1", "openai-python/2.8.1 Python/3.12"],
])("A User-Agent is said as %s", (said, userAgent) => {
  expect(userAgentWords(userAgent)).toBe(said);
});
