import { API_VERSION } from "../../kinds/kinds.ts";
import { commentLines, writeCommentedYaml } from "../../manifest/document/write-yaml.ts";
import { redactKeys } from "../../redact.ts";
import { rfc3339 } from "../../rfc3339.ts";
import { type Advice, advisedSpec } from "./advise.ts";
import type { KeyUse } from "./key-use.ts";

/** A key as in its manifest. */
export type AdvisedKey = {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  /** Spec as it is declared, or as much of it as is known. */
  readonly spec: object;
  /** Further remarks for the reader of the manifest. */
  readonly notes: readonly string[];
};

/**
 * Writes advice as a manifest to be reviewed, with the reasons in comments. For a key without advice there are only
 * comments. Names in it come from others: none ends a comment, and none is read as anything but text.
 */
export function adviceManifest(key: AdvisedKey, advice: Advice, { from, to }: Pick<KeyUse, "from" | "to">): string {
  const { namespace, name, id } = key;
  const title = `PlatformKey ${namespace === "" ? name : `${namespace}/${name}`} (${id})`;
  const span = `from ${rfc3339(from)} to ${rfc3339(to)}`;
  if (advice.lacks !== null) return commentLines([`${title}, ${span}: ${advice.lacks}`]);
  if (advice.isUnused) {
    return commentLines([`${title} was not used ${span}. Is it needed? Remove its declaration, or suspend it first.`]);
  }
  const fields = new Map<string, string[]>();
  const others: string[] = [];
  const spec = advisedSpec(key.spec, advice);
  for (const { field, change, why } of advice.points) {
    const [shown = field] = Object.keys(change).filter((name) => Object.hasOwn(spec, name));
    const text = redactKeys(why);
    if (Object.hasOwn(spec, shown)) fields.set(`spec.${shown}`, [...(fields.get(`spec.${shown}`) ?? []), text]);
    else others.push(`spec.${field}: ${text}`);
  }
  const manifest = {
    apiVersion: API_VERSION,
    kind: "PlatformKey",
    metadata: { name, ...(namespace !== "" && { namespace }) },
    spec,
  };
  const top = [
    `${title}: what would have been enough ${span}.`,
    "To be reviewed: rare uses may lie outside of that time. Nothing was changed.",
    ...key.notes,
    ...others,
  ];
  return writeCommentedYaml(manifest, { top, fields });
}
