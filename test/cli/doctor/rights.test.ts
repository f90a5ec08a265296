import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { checkRights } from "../../../cli/doctor/rights.ts";
import type { ApiClient } from "../../../controller/cluster/kubernetes/api/api-client.ts";
import { read } from "../../architecture/sources.ts";

const ACCOUNT = { namespace: "keyplane-system", name: "keyplane-controller", isSelf: false };

/** What an access review asks. */
type AccessReview = Readonly<Record<"namespace" | "verb" | "group" | "resource" | "subresource", string>>;

/** Answers each access review. */
function answering(isAllowed: (asked: AccessReview) => boolean): ApiClient {
  return {
    request: async ({ body }) => {
      const { spec } = body as { readonly spec: { readonly resourceAttributes: AccessReview } };
      return { status: { allowed: isAllowed(spec.resourceAttributes) } };
    },
    stream: () => Promise.reject(new Error("nothing is streamed")),
    guardWrites: () => {},
    close: () => {},
  };
}

test("doctor asks for the rights that infra/rbac grants, for all of them, where each holds", async () => {
  const asked: string[] = [];
  const api = answering(({ namespace, verb, group, resource, subresource }) => {
    asked.push(`${verb} ${resource}${subresource && `/${subresource}`}.${group} in "${namespace}"`);
    return true;
  });
  const findings = await checkRights(api, ACCOUNT, ["team-a"]);
  expect(findings.map(({ severity }) => severity)).toEqual(["ok"]);
  const granted = [...grantedBy("controller.yaml", ""), ...grantedBy("namespace.yaml", "team-a")];
  expect(granted.length).toBeGreaterThan(30);
  expect(asked.toSorted()).toEqual(granted.toSorted());
});

test("doctor asks for the Lease where the controllers run", async () => {
  const homes = new Set<string>();
  const api = answering(({ namespace, resource }) => {
    if (resource === "leases") homes.add(namespace);
    return true;
  });
  await checkRights(api, { ...ACCOUNT, namespace: "platform" }, []);
  expect([...homes]).toEqual(["platform"]);
});

test("doctor notes a right that restartTargets alone need, and reports any other as an error", async () => {
  const findings = await checkRights(
    answering(({ namespace, group, verb }) => namespace !== "team-a" || (group !== "apps" && verb !== "create")),
    ACCOUNT,
    ["team-a"],
  );
  expect(findings.map(({ severity, message }) => `${severity} ${message}`)).toEqual([
    expect.stringMatching(/^error .* may not create secrets in the namespace team-a$/),
    expect.stringMatching(/^error .* may not create events in the namespace team-a$/),
    expect.stringMatching(/^note .* may not patch deployments in the namespace team-a, which restartTargets need$/),
    expect.stringMatching(/^note .* may not patch statefulsets .*, which restartTargets need$/),
    expect.stringMatching(/^note .* may not patch daemonsets .*, which restartTargets need$/),
  ]);
  // A command of a shell, by which a chart of these names is not led to make what Helm then does not take over.
  const [action = ""] = new Set(findings.map((finding) => finding.action ?? ""));
  expect(action).toMatch(
    /^kubectl apply -n team-a -f infra\/rbac\/namespace\.yaml # with the chart, .*\bteam-a\b.*keyNamespaces/,
  );
});

type Role = {
  readonly metadata: { readonly namespace?: string };
  readonly rules?: readonly { apiGroups: string[]; resources: string[]; verbs: string[] }[];
};

/** @param namespace where a role holds that names no namespace */
function grantedBy(file: string, namespace: string): string[] {
  const roles = parseAllDocuments(read(`infra/rbac/${file}`)).map((document) => document.toJS() as Role);
  return roles.flatMap(({ metadata, rules = [] }) =>
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.map((verb) => `${verb} ${resource}.${group} in "${metadata.namespace ?? namespace}"`),
        ),
      ),
    ),
  );
}
