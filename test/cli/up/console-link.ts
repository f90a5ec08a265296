import { describe, expect, test } from "vitest";
import { until } from "../../env/until.ts";
import { openBrowser } from "../../server/auth/session/browser.ts";
import { type Installation, keyplane } from "../up.ts";

const LINK = /^http:\S+\/dashboard\/sign-in\?link=[\w-]{43}$/gm;

export function testConsoleLink({ data, up: running }: Installation): void {
  describe("The link to the console", () => {
    const linksOf = (output: string) => [...output.matchAll(LINK)].map(([link]) => link);

    test("is printed by keyplane up once it runs, and signs in once", async () => {
      const up = running();
      const link = await until("the link", () => linksOf(up.output())[0]);
      expect(link.startsWith(up.url)).toBe(true);
      const browser = openBrowser();
      const page = await browser.ask(link);
      expect(page.status).toBe(303);
      expect(browser.cookie(up.url, "keyplane_session")).toMatch(/^[\w-]{43}$/);
      expect((await browser.visit(`${up.url}/dashboard/keys`)).status).toBe(200);
      expect((await openBrowser().ask(link)).status).toBe(401);
      expect(linksOf(up.output())).toEqual([link]);
    });

    test("is printed again by keyplane console, another each time", async () => {
      const printed = [];
      for (const _ of [1, 2]) printed.push(await keyplane(["console", ...data]));
      const links = printed.map(({ out }) => out.trim());
      for (const [i, link] of links.entries()) {
        expect(printed[i]).toMatchObject({ code: 0, err: "" });
        expect(linksOf(link)).toEqual([link]);
        expect((await openBrowser().ask(link)).status).toBe(303);
      }
      expect(new Set(links).size).toBe(2);
    });
  });
}
