import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

/**
 * Where the system has it, or CHROMIUM_BIN says. The shell is Chromium without the frame of a window: with that a page
 * takes the processor five times as long to open.
 */
const PATHS = [
  process.env.CHROMIUM_BIN,
  ...["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].map((name) => `/usr/bin/${name}`),
];
const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Of a process that test files share: to start one takes the processor two seconds. It ends with its process. */
let kept: Promise<Browser> | undefined;

/** The system's Chromium, with no window of another's. The caller closes it. */
export async function openBrowser(): Promise<Browser> {
  if (process.env.KEYPLANE_TEST_SHARES_PROCESS === undefined) return launch();
  kept ??= launch();
  const browser = await kept;
  const close = async () => void (await Promise.all(browser.contexts().map((context) => context.close())));
  return Object.create(browser, { close: { value: close } });
}

function launch(): Promise<Browser> {
  const executablePath = PATHS.find((path) => path !== undefined && existsSync(path));
  if (executablePath === undefined) {
    throw new Error(
      "there is no Chromium: install it (apt-get install chromium-headless-shell), or name it by CHROMIUM_BIN",
    );
  }
  return chromium.launch({ executablePath, args: FLAGS });
}

/**
 * What a page breaks of the rules of accessibility, as `theme: rule: elements`; empty for nothing. The dark theme has
 * other colours and nothing else, so that it is judged by the rules of colours.
 *
 * @param by `all`, or `all but colours` where the same page is judged by all of them in another window: its width moves
 * and hides things, and colours none, and to look at every colour is most of the work
 */
export async function faultsOf(page: Page, by: keyof typeof RULES = "all"): Promise<string[]> {
  await page.evaluate(AXE);
  const faults: string[] = [];
  for (const [colorScheme, options] of RULES[by]) {
    // What fades from one colour to another would have a third for a while.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const broken = await page.evaluate<string[]>(judgeBy(options));
    faults.push(...broken.map((fault) => `${colorScheme}: ${fault}`));
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  return faults;
}

/**
 * What has no room in a page's window: what is wider than the window or its panel, text that has become a column of letters
 * or of words, and words and numbers that go on in the next line.
 */
export async function crampedOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...${CRAMPED}, ...${BROKEN}]`);
}

/** By which of its rules axe judges each theme. Of those of colours it leaves one out unless all are asked for. */
const RULES = {
  all: [
    ["light", {}],
    ["dark", { runOnly: ["cat.color"], rules: { "color-contrast-enhanced": { enabled: false } } }],
  ],
  "all but colours": [
    ["light", { rules: { "color-contrast": { enabled: false }, "link-in-text-block": { enabled: false } } }],
  ],
} as const;

/** Runs in the page. */
const judgeBy = (options: object) => `axe.run(${JSON.stringify({ ...options, resultTypes: ["violations"] })})
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`;

/** Runs in the page. */
const CRAMPED = `[
  ...(document.documentElement.scrollWidth > innerWidth ? ["the page is wider than its window"] : []),
  ...[...document.querySelectorAll(".panel")]
    .filter((panel) => panel.scrollWidth > panel.clientWidth)
    .map((panel) => "a panel cuts what is in it: " + panel.innerText.slice(0, 60)),
  ...[...document.querySelectorAll("td, tbody th, dd")]
    .filter((text) => {
      const range = document.createRange();
      range.selectNodeContents(text);
      const { width, height } = range.getBoundingClientRect();
      return width < 96 && height > 240;
    })
    .map((text) => "a column of letters: " + text.innerText.slice(0, 60)),
  ...[...document.querySelectorAll("p, li, dt, label, :is(h1, h2, h3, h4), .button, button")]
    .filter((text) => text.getBoundingClientRect().width < 96 && text.getBoundingClientRect().height > 96)
    .map((text) => "a column of words: " + text.innerText.slice(0, 60)),
]`;

/** Runs in a page of the console, which the reference is not. A longer word may be an id, or a name that no line has room for; as may the id of a request. */
const BROKEN = `(() => {
  if (document.querySelector("nav[aria-label=Console]") === null) return [];
  const found = new Set();
  const range = document.createRange();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    if (text.parentElement.closest("pre, svg, option, script, .unseen")) continue;
    for (const { 0: word, index } of text.data.matchAll(/(?<!\\w)(?!req_)(?:\\d+\\.\\d+\\w?|\\w{2,20})(?!\\w)/g)) {
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      const tops = [...range.getClientRects()].map(({ top }) => top);
      if (Math.max(...tops) - Math.min(...tops) > 8) found.add("a broken word: " + word + " of " + text.data.trim());
    }
  }
  return [...found];
})()`;

/** Signs a browser in by the cookie that a sign-in would set. */
export async function takeCookie(context: BrowserContext, url: string, cookie: string): Promise<void> {
  const [name = "", value = ""] = cookie.split("=");
  await context.addCookies([{ name, value, url }]);
}
