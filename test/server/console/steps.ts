import type { Page } from "playwright-core";

/** What is to be read on a page, beside its frame. */
export const mainText = (page: Page): Promise<string> => page.locator("main").innerText();

/** Goes to a section of the console by the navigation. */
export const goToSection = (page: Page, section: string): Promise<void> =>
  page.getByRole("navigation").getByRole("link", { name: section }).click();

/** Follows the first link that has this text. */
export const followLink = (page: Page, name: string): Promise<void> =>
  page.getByRole("link", { name, exact: true }).first().click();
