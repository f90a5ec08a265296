import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { downloadGoModule } from "../../env/go/go-download.ts";
import { installKinds } from "../../env/kubernetes/install-kinds.ts";
import { describeOnKubernetes } from "../../env/kubernetes/of-run.ts";
import { CHART, complaintsAbout, makeNamespaces } from "./helm.ts";

const OPERATOR = {
  path: "github.com/cloudnative-pg/cloudnative-pg",
  version: "v1.27.0",
  sum: "h1:mp0zlYO4vKAJmQdArWORWKr1lmB4Hj8JeBQGX5RBnpg=",
};
const EXAMPLES = join(CHART, "examples");

describeOnKubernetes("The chart's example for CloudNativePG", (kubernetes) => {
  beforeAll(async () => {
    const crds = join(await downloadGoModule(OPERATOR), "config/crd/bases");
    await installKinds(kubernetes(), join(crds, "postgresql.cnpg.io_clusters.yaml"));
    await makeNamespaces(kubernetes());
  });

  it("is taken by the API server as the operator's kind, without a warning", async () => {
    const text = await readFile(join(EXAMPLES, "cloudnativepg.yaml"), "utf8");
    expect(await complaintsAbout(kubernetes(), text)).toEqual([]);
  });

  it("names the Secrets that the operator makes for it", async () => {
    const { metadata } = parse(await readFile(join(EXAMPLES, "cloudnativepg.yaml"), "utf8"));
    const { database } = parse(await readFile(join(EXAMPLES, "values-cloudnativepg.yaml"), "utf8"));
    const ca = { existingSecret: `${metadata.name}-ca` };
    expect(database).toEqual({ existingSecret: `${metadata.name}-app`, key: "uri", ca });
  });
});
