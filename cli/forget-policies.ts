import type { AddCommand } from "./command/command.ts";
import { openManagement, type ServerChoice, serverOptions } from "./management/management-client.ts";
import { outputOption, outputText, type StructuredFormat } from "./output/output.ts";
import { plainText } from "./output/plain-text.ts";

type Flags = ServerChoice & { readonly reason?: string | undefined; readonly output?: StructuredFormat };

/**
 * Adds `keyplane forget-policies`, which ends the policies of a cluster that no longer exists
 * (docs/decisions/key-policies.md).
 */
export const addForgetPolicies: AddCommand = (program, { env, out }) => {
  serverOptions(
    program
      .command("forget-policies")
      .description("delete the PlatformKeyPolicies of a deleted cluster, which still apply to keys made by hand")
      .argument(
        "<cluster>",
        "the cluster's id: the uid of its namespace kube-system, shown in errors and on a key's page",
      ),
  )
    .option("--reason <text>", "the reason, for the audit log")
    .addOption(outputOption())
    .example(
      'keyplane forget-policies "$CLUSTER" --server https://keys.example.com',
      "first stop the cluster's controller, which would store them again",
    )
    .action(async (cluster: string, { reason, output, ...choice }: Flags) => {
      const client = await openManagement(env, choice);
      const { forgotten } = await client.forgetPolicies(cluster, reason);
      const words = `forgot the policies ${forgotten.join(", ")}: they ask nothing of keys made by hand any more`;
      out(output === undefined ? plainText(words) : outputText({ cluster, forgotten }, output));
    });
};
