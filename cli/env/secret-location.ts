import { resolve } from "node:path";
import { findCondition } from "../../domain/conditions.ts";
import { shellWord } from "../../domain/shell-word.ts";
import type { DeclaredChoice } from "../source/open-source.ts";
import type { ListedObject } from "../source/source.ts";

/** Location of a key: a Secret, and the key of its data. */
export type SecretLocation = { readonly namespace: string; readonly name: string; readonly dataKey: string };

/**
 * Returns the Secret of a key.
 *
 * @throws Error for a key that was not delivered
 */
export function secretOf(key: ListedObject<"PlatformKey">): SecretLocation {
  const { namespace, name } = key.metadata;
  const { secretRef, conditions } = key.status ?? {};
  const delivery = findCondition(conditions, "SecretDelivered");
  if (secretRef?.name === undefined || delivery?.status === "False") {
    const reason = delivery?.reason ?? "it has not been reconciled yet";
    throw new Error(
      `key ${namespace}/${name} is in no Secret of ours (${reason}): see keyplane describe key ${namespace}/${name}`,
    );
  }
  return { namespace, name: secretRef.name, dataKey: secretRef.dataKey ?? "api-key" };
}

/** Returns the shell command that reads the key. */
export function readingCommand(choice: DeclaredChoice, { namespace, name, dataKey }: SecretLocation): string {
  if (choice.from === "data") return `cat ${shellWord(resolve(choice.data, "secrets", namespace, name, dataKey))}`;
  const template = `go-template={{index .data ${JSON.stringify(dataKey)} | base64decode}}`;
  const { kubeconfig, context } = choice;
  return [
    "kubectl",
    ...(kubeconfig === undefined ? [] : [`--kubeconfig ${shellWord(resolve(kubeconfig))}`]),
    ...(context === undefined ? [] : [`--context ${shellWord(context)}`]),
    `get secret ${shellWord(name)} -n ${shellWord(namespace)} -o ${shellWord(template)}`,
  ].join(" ");
}
