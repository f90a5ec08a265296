import { expect, it } from "vitest";
import { filesBelow, read } from "../architecture/sources.ts";
import { blocksIn } from "../env/blocks.ts";

const PAGES = ["README.md", ...["docs", "examples", "infra"].flatMap((folder) => filesBelow(folder, ".md"))];

it("b442: a reader pastes no comment with a page's commands: an interactive zsh takes its words for arguments, and curl sends the key to a host of each", () => {
  const commented = PAGES.flatMap((page) =>
    blocksIn(read(page))
      .filter(({ language }) => language === "sh")
      .flatMap(({ text }) => text.split("\n").filter((line) => /(?:^|\s)#/.test(line)))
      .map((line) => `${page}: ${line}`),
  );
  expect(commented).toEqual([]);
});
