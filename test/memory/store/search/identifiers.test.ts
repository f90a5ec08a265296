import { beforeAll, expect, test } from "vitest";
import { recallAtoms } from "../../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";
import { storeAged } from "./recall/stored.ts";

const REACH = { teamId: "team-a", libraryIds: null };
const NAMES = {
  snake: "The gateway's read_timeout_ms is 3000.",
  kebab: "Raise read-timeout-ms in the chart of the gateway.",
  camel: "Workers take readTimeoutMs out of their environment.",
  scattered: "Read the note on the timeout first: 20 ms is too short.",
  onlySnake: "A job is given up at max_retry_count, which is five.",
  onlyKebab: "The pool never has more than idle-pool-size of them.",
  onlyCamel: "Set leaseTtlSeconds to ninety in production.",
  retries: "Count the retries of the job, five at the most.",
};
const LANGUAGES = {
  cpp: "The codec of the cameras is written in C++ by Hanne.",
  cs: "The plugin of the editor is written in C# by Ilmo.",
  c: "The firmware of the buoys is written in C by Jorunn.",
  dotnet: "Billing runs on .NET and is built in the cellar.",
  net: "The net of the crane is torn, and billing knows of it.",
};
const VERSIONS = {
  words: "Since version 1.2 the map of the harbour is drawn at once.",
  tag: "The tag v3.4.0 was cut from a branch of Ilmo's.",
  other: "Version 2.1 has a map of the tides.",
};
const NUMBERED = {
  patch: "Since version 5.6.1 the tide tables are printed in one go.",
  release: "Release 7.8 draws no map.",
  beginsWithMore: "Version 15.6 of the reader is red, and version 17.8 is grey.",
  endsWithMore: "Version 5.61 of the reader is blue, v7.81 is white, and version 3.41 is brown.",
  apart: "At 3 the first 4 boats left, at 5 the last 6, and at 7 none of the 8 was back.",
  single: "Since v127 the crane turns by itself.",
  singleInWords: "With version 128 the crane stands still.",
};
const WRITTEN = {
  date: "The audit of 2026-11-26 took place in the long hall.",
  dateInDots: "The inspection of 24.12.2025 took place in the cellar.",
  time: "The ferry to the island sails at 10:30 from the second pier.",
  timeInDots: "The ferry to the cape sails at 9.45am from the third pier.",
  weight: "The beam over the gate weighs 41,5 tons.",
  candidate: "The build v6.2.0rc1 went to the testers.",
};
/** Newer than all of these: their words are rare. */
const OTHERS = Array.from(
  { length: 60 },
  (_, n) => `House ${n}: the roof was mended, the owner has paid for ${n} tiles.`,
);

describeNightlyOnEachEngine("A memory of engineers", (opened) => {
  beforeAll(async () => {
    await addTeamsWithLibraries(opened());
    const named = [NAMES, LANGUAGES, VERSIONS, NUMBERED, WRITTEN].flatMap((texts) => Object.values<string>(texts));
    const texts = [...named, ...OTHERS];
    await storeAged(
      opened().db,
      { libraryId: "lib-diary", teamId: "team-a" },
      texts.map((content, n) => ({ content, importance: 5, ageDays: 200 - n })),
    );
  });

  const asked = (query: string) => ({ libraryId: "lib-diary", tags: [], query, limit: 5 });
  const ways: readonly (readonly [string, (query: string) => Promise<string[]>])[] = [
    [
      "search",
      async (query) => (await searchAtoms(opened().db, REACH, asked(query))).items.map((it) => it.atom.content),
    ],
    ["recall", async (query) => (await recallAtoms(opened().db, REACH, asked(query))).atoms.map((it) => it.content)],
  ];

  test.each(ways)("%s has an identifier among five however it is parted, before its words apart", async (_, find) => {
    for (const query of ["readTimeoutMs", "read_timeout_ms", "read-timeout-ms"]) {
      const found = await find(query);
      expect.soft(found, query).toEqual(expect.arrayContaining([NAMES.snake, NAMES.kebab, NAMES.camel]));
      expect.soft(found.slice(0, 3), query).not.toContain(NAMES.scattered);
    }
  });

  test.each(ways)("%s has an identifier first where none other has it as it is written", async (_, find) => {
    const firsts = {
      maxRetryCount: NAMES.onlySnake,
      "max-retry-count": NAMES.onlySnake,
      idlePoolSize: NAMES.onlyKebab,
      idle_pool_size: NAMES.onlyKebab,
      lease_ttl_seconds: NAMES.onlyCamel,
      "lease-ttl-seconds": NAMES.onlyCamel,
    };
    for (const [query, first] of Object.entries(firsts)) expect.soft((await find(query))[0], query).toBe(first);
  });

  test.each(ways)("%s tells names apart that differ by their marks alone", async (_, find) => {
    const firsts = {
      "C++": LANGUAGES.cpp,
      "C#": LANGUAGES.cs,
      ".NET": LANGUAGES.dotnet,
      "written in C#": LANGUAGES.cs,
    };
    for (const [query, first] of Object.entries(firsts)) expect.soft((await find(query))[0], query).toBe(first);
  });

  test.each(ways)("%s has a version however it is written", async (_, find) => {
    const firsts = { "v1.2.0": VERSIONS.words, "3.4": VERSIONS.tag };
    for (const [query, first] of Object.entries(firsts)) expect.soft((await find(query))[0], query).toBe(first);
  });

  test.each(ways)("%s has a version first that is written with a v, without one, or goes on", async (_, find) => {
    const firsts = {
      "version 3.4": VERSIONS.tag,
      "v3.4": VERSIONS.tag,
      "release v3.4.0": VERSIONS.tag,
      "version 5.6": NUMBERED.patch,
      "v5.6": NUMBERED.patch,
      "v5.6.1": NUMBERED.patch,
      "v7.8": NUMBERED.release,
      "version 7.8.0": NUMBERED.release,
      v127: NUMBERED.single,
      "127": NUMBERED.single,
      v128: NUMBERED.singleInWords,
    };
    for (const [query, first] of Object.entries(firsts)) expect.soft((await find(query))[0], query).toBe(first);
  });

  test.each(ways)("%s has for a version no other one, nor its numbers apart", async (_, find) => {
    for (const query of ["3.4", "v3.4", "5.6", "v5.6", "v7.8", "5.6.0"]) {
      const found = await find(query);
      for (const other of [NUMBERED.beginsWithMore, NUMBERED.endsWithMore, NUMBERED.apart, ...OTHERS])
        expect.soft(found, query).not.toContain(other);
    }
  });

  test.each(ways)(
    "b297: %s has a date, a time and a number first whatever marks they are written with",
    async (_, find) => {
      const firsts = {
        "26.11.2026": WRITTEN.date,
        "2026.11.26": WRITTEN.date,
        "2025.12.24": WRITTEN.dateInDots,
        "10.30": WRITTEN.time,
        "9.45am": WRITTEN.timeInDots,
        "41.5": WRITTEN.weight,
        "6.2.0rc1": WRITTEN.candidate,
        "v6.2.0rc1 bulid": WRITTEN.candidate,
      };
      for (const [query, first] of Object.entries(firsts)) expect.soft((await find(query))[0], query).toBe(first);
    },
  );
});
