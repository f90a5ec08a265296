import { expect, it } from "vitest";
import { read } from "../../architecture/sources.ts";
import { blocksIn } from "../../env/blocks.ts";
import { describeOnPulumi } from "../../env/pulumi.ts";
import { textsBelow } from "./files.ts";

const program = blocksIn(read("docs/guides/pulumi.md"))
  .find(({ language, heading }) => language === "yaml" && heading === "In YAML")
  // Here the CLI finds the provider on the PATH.
  ?.text.replace(/^plugins:\n(?: .*\n)+/m, "");

describeOnPulumi("a program in YAML", ({ makeProject, call }) => {
  it("is brought up as the guide shows it, with its secret encrypted, and down again", async () => {
    const { folder, cli } = await makeProject({ "Pulumi.yaml": program ?? expect.fail("the guide has none") });
    const up = await cli("up", "--yes", "--skip-preview");
    expect(up).toMatchObject({ failed: false, out: expect.stringContaining("4 created") });
    const { out } = await cli("stack", "output", "key", "--show-secrets");
    const key = out.trim();
    expect(await call(key)).toBe(200);
    expect(up.out).not.toContain(key);
    expect(textsBelow(folder).filter(([, text]) => text.includes(key))).toEqual([]);
    expect((await cli("preview", "--expect-no-changes")).failed).toBe(false);
    expect((await cli("destroy", "--yes", "--skip-preview")).failed).toBe(false);
    expect(await call(key)).toBe(401);
  });

  it("names the properties that there are where one is misspelt", async () => {
    const misspelt = program?.replace("libraryAccess:", "library:") ?? "";
    const { cli } = await makeProject({ "Pulumi.yaml": misspelt });
    const { out, failed } = await cli("preview");
    expect(failed).toBe(true);
    expect(out).toContain("libraryAccess");
  });
});
