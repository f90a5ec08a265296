import type { Environment } from "../../domain/environment.ts";
import type { AddCommand } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { callApi } from "../management/api-call.ts";
import { askForMemory, type KeyChoice, openAsKey } from "../management/key-client.ts";
import { outputOption, outputText, type StructuredFormat } from "../output/output.ts";

type Flags = KeyChoice & { readonly output?: StructuredFormat };

/** Fields of an atom that even a write-only key is shown. */
type Restored = { readonly id: string; readonly revision: number };

/** Adds `keyplane memory-restore`, which restores an atom that `memory_forget_atom` has deleted. */
export const addMemoryRestore: AddCommand = (program, { env, out }) => {
  askForMemory(
    program
      .command("memory-restore")
      .description("restore an atom that memory_forget_atom deleted in the last 30 days")
      .argument("<id>", "the atom's id, from the tool's answer"),
  )
    .addOption(outputOption())
    .example(
      "keyplane memory-restore 019ab2c4-5d6e-7f80-91a2-b3c4d5e6f708 --key-file key --data .keyplane",
      "restore an atom with its revisions",
    )
    .action(async (id: string, flags: Flags) => out(await runRestore(env, id, flags)));
};

async function runRestore(env: Environment, id: string, { output, ...choice }: Flags): Promise<string> {
  if (!/^[0-9a-f-]{36}$/.test(id)) {
    throw new UsageError("memory-restore takes the id of an atom: 36 hexadecimal digits and dashes");
  }
  const restored = await callApi<Restored>(await openAsKey(env, choice), "POST", `memory/atoms/${id}/restore`);
  return output === undefined
    ? `Restored atom ${restored.id}, revision ${restored.revision}.`
    : outputText(restored, output);
}
