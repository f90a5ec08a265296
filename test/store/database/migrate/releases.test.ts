import { describe, expect, it } from "vitest";
import packageJson from "../../../../package.json" with { type: "json" };
import { MIN_SCHEMA_VERSION, SCHEMA_VERSION } from "../../../../store/database/migrate/migrate.ts";
import { RELEASES, releaseBetween, wayFrom } from "../../../../store/database/migrate/releases.ts";
import { read } from "../../../architecture/sources.ts";

const releases = [
  { name: "v0.1.0", schema: 20, carriesFrom: 10 },
  { name: "v0.2.0", schema: 30, carriesFrom: 10 },
  { name: "v0.3.0", schema: 40, carriesFrom: 20 },
];

describe("a schema that is too old", () => {
  it("is refused with the newest release that can bring it near enough", () => {
    const range = { oldest: 25, newest: 50 };
    expect(releaseBetween(10, range, releases)?.name).toBe("v0.2.0");
    expect(releaseBetween(20, range, releases)?.name).toBe("v0.3.0");
    expect(wayFrom(12, range, releases)).toBe(
      "bring it to version 30 with keyplane v0.2.0, and come back with this one",
    );
  });

  it("is refused with the last commit before the schema was made one migration, from version 17 on", () => {
    const range = { oldest: MIN_SCHEMA_VERSION, newest: SCHEMA_VERSION };
    for (const version of [17, 29, MIN_SCHEMA_VERSION - 1]) {
      expect(wayFrom(version, range)).toBe(
        "bring it to version 58 with keyplane e9e27372, and come back with this one",
      );
    }
    expect(wayFrom(16, range)).toContain("with a build of that version");
  });

  it("is refused with the version where no release can", () => {
    const versionAlone = "bring it to version 25 with a build of that version, and come back with this one";
    for (const version of [9, 24]) {
      expect(wayFrom(version, { oldest: 25, newest: 29 }, releases)).toBe(versionAlone);
    }
  });
});

describe("releases", () => {
  it("are listed oldest first, with schemas that this build knows", () => {
    const schemas = RELEASES.map(({ schema }) => schema);
    expect(schemas).toEqual(schemas.toSorted((left, right) => left - right));
    expect(RELEASES.filter(({ schema, carriesFrom }) => schema > SCHEMA_VERSION || carriesFrom > schema)).toEqual([]);
  });

  it("say in the changelog from which schema this one carries data over", () => {
    const [, section = ""] = read("CHANGELOG.md").split(`## [${packageJson.version}]`);
    expect(section.split("\n## ")[0]).toContain(
      `\nCarries data over from version ${MIN_SCHEMA_VERSION} of the schema.\n`,
    );
  });
});
