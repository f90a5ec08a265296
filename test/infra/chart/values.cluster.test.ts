import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnKubernetes } from "../../env/kubernetes/of-run.ts";
import { complaintsAbout, type Helm, makeNamespaces, manifestsIn, openHelm } from "./helm.ts";
import { POD_VALUE_CASES } from "./pod-value-cases.ts";
import { VALUE_CASES } from "./value-cases.ts";

const CASES = Object.entries({ ...POD_VALUE_CASES, ...VALUE_CASES });

describeOnKubernetes("values of infra/chart", (kubernetes) => {
  let home: string;
  let helm: Helm;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "keyplane-helm-"));
    helm = await openHelm(home);
    await makeNamespaces(kubernetes(), "team-a");
  });

  afterAll(async () => {
    if (home !== undefined) await rm(home, { recursive: true });
  });

  it.each(CASES)(
    "%s, which the API server takes without a warning",
    async (name, { values, expected, absent = [] }) => {
      const file = join(home, `${CASES.findIndex(([title]) => title === name)}.json`);
      await writeFile(file, JSON.stringify(values));
      const text = await helm.render("--values", file, "--set", "crds.install=false");
      const rendered = manifestsIn(text);
      const found = (kind: string, name: string) =>
        rendered.find((object) => object.kind === kind && object.metadata.name === name);
      for (const [kind, name, object] of expected) expect(found(kind, name)).toMatchObject(object);
      expect(absent.filter(([kind, name]) => found(kind, name) !== undefined)).toEqual([]);
      expect(await complaintsAbout(kubernetes(), text)).toEqual([]);
    },
  );
});
