/** Checks that the cluster has the kinds of Keyplane, as this build knows them. */
import type { ApiClient } from "../../controller/cluster/kubernetes/api/api-client.ts";
import { isForbidden, isNotServed } from "../../controller/cluster/kubernetes/api/api-error.ts";
import { definitionName, definitionPath } from "../../controller/cluster/kubernetes/resources.ts";
import { errorText } from "../../domain/error-text.ts";
import { SCHEMAS } from "../../domain/kinds/generated/schemas.ts";
import { API_VERSION, KINDS, type Kind } from "../../domain/kinds/kinds.ts";
import type { Schema } from "../../domain/kinds/schema.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import { nameSome } from "../../domain/name-some.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";

/**
 * Command that applies the kinds. Conflicts are forced: Helm, or whichever tool applied the other version, owns the
 * fields that change.
 */
const APPLY = "kubectl apply --server-side --force-conflicts -f crds/";
const [, VERSION = ""] = API_VERSION.split("/");
/** Largest number of fields that a finding names. */
const MAX_NAMED = 5;

/** Reads each CustomResourceDefinition, and compares it with what this build writes and reads. */
export async function checkCustomResources(api: ApiClient): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const kind of KINDS) {
    try {
      findings.push(...judgeDefinition(kind, await api.request({ method: "GET", path: definitionPath(kind) })));
    } catch (error) {
      findings.push(unread(kind, error));
    }
  }
  const isFine = findings.every(({ severity }) => severity !== "error");
  return isFine ? [ok("custom-resources", "the cluster serves the kinds of Keyplane"), ...findings] : findings;
}

function unread(kind: Kind, error: unknown): Finding {
  const name = definitionName(kind);
  if (isNotServed(error)) {
    const message = `the cluster does not have ${name}: nothing of kind ${kind} can be declared, and none ends`;
    return wrong("custom-resources", message, APPLY);
  }
  const message = `the CustomResourceDefinition ${name} cannot be read: ${errorText(error)}`;
  const step = "run it as a user who may get customresourcedefinitions";
  return isForbidden(error) ? note("custom-resources", message, step) : wrong("custom-resources", message, step);
}

/**
 * Compares a CustomResourceDefinition with this build's.
 *
 * @param answer a CustomResourceDefinition, as the API server returns it
 */
export function judgeDefinition(kind: Kind, answer: unknown): Finding[] {
  const name = definitionName(kind);
  const { spec, status } = isRecord(answer) ? answer : {};
  const versions = recordsIn(spec, "versions");
  const ours = versions.find((version) => version.name === VERSION);
  const fault = (message: string, step = APPLY) => [wrong("custom-resources", `${name} ${message}`, step)];
  if (ours === undefined || ours.served !== true) {
    const served = versions.filter((version) => version.served === true).map((version) => String(version.name));
    return fault(`does not serve ${VERSION}, which this build works with, but ${served.join(", ") || "nothing"}`);
  }
  const established = recordsIn(status, "conditions").find(({ type }) => type === "Established");
  if (established?.status !== "True") {
    return fault("is not established: another kind may have its name", `kubectl describe crd ${name}`);
  }
  const { openAPIV3Schema: schema } = isRecord(ours.schema) ? ours.schema : {};
  const lacking = lackingFields(SCHEMAS[kind], schema);
  if (lacking.length > 0) {
    return fault(`is of another version than this build: it lacks ${nameSome(lacking, MAX_NAMED)}`);
  }
  const storage = versions.find((version) => version.storage === true)?.name;
  const { storedVersions } = isRecord(status) ? status : {};
  const others = Array.isArray(storedVersions) ? storedVersions.filter((version) => version !== storage) : [];
  const message = `${name} may have objects that are stored as ${others.join(", ")}`;
  const step = "before that version goes: keyplane migrate-api-version --kubeconfig FILE";
  return others.length > 0 ? [note("custom-resources", message, step)] : [];
}

/**
 * Returns the fields that this build knows and a served schema lacks. The API server drops such fields without a
 * warning.
 */
function lackingFields(ours: Schema, theirs: unknown, path = ""): string[] {
  const known = isRecord(theirs) ? theirs : {};
  const properties = isRecord(known.properties) ? known.properties : {};
  const fields = Object.entries(ours.properties ?? {}).flatMap(([name, schema]) =>
    properties[name] === undefined ? [`${path}.${name}`] : lackingFields(schema, properties[name], `${path}.${name}`),
  );
  const items = ours.items === undefined ? [] : lackingFields(ours.items, known.items, `${path}[]`);
  return [...fields, ...items];
}

function recordsIn(value: unknown, member: string): Record<string, unknown>[] {
  const list = isRecord(value) ? value[member] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}
