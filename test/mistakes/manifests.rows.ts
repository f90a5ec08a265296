/** The commonest mistakes in manifests: what was done, and what the command says of it, word for word. */

export type ManifestMistake = {
  /** What was done, in a sentence. */
  readonly done: string;
  /** All that is in the folder, by the files' names. */
  readonly manifests: Readonly<Record<string, string>>;
  /** As it is typed beside the folder `manifests`. */
  readonly command: string;
  /** What it prints, but for the line of counts at the end. */
  readonly says: string;
};

/** What is right: each mistake is one change to it. */
const RIGHT = {
  "team.yaml": `apiVersion: keyplane.dev/v1alpha1
kind: PlatformTeam
metadata:
  name: research
spec:
  namespaces: [research-dev]
`,
  "gateway.yaml": `apiVersion: keyplane.dev/v1alpha1
kind: ModelGateway
metadata:
  name: main
  namespace: research-dev
spec:
  publicID: research-main
  routesOnly: true
  upstreams:
    - name: openai
      dialect: openai
      baseURL: https://api.openai.com
      credentialRef: { name: provider, key: api-key }
  routes:
    - { model: fast-chat, routeID: rt-fast, upstream: openai, upstreamModel: gpt-5-mini }
`,
  "secret.yaml": `apiVersion: v1
kind: Secret
metadata:
  name: provider
  namespace: research-dev
stringData:
  api-key: of-the-provider
`,
  "key.yaml": `apiVersion: keyplane.dev/v1alpha1
kind: PlatformKey
metadata:
  name: docs-agent
  namespace: research-dev
spec:
  displayName: Docs agent
  scopes: [gateway:generate, gateway:routes]
  gatewayRef: { name: main }
  allowedModels: [fast-chat]
  rotation:
    interval: 720h
`,
};

/** Another team, with a gateway of its own. */
const SUPPORT = `apiVersion: keyplane.dev/v1alpha1
kind: PlatformTeam
metadata:
  name: support
spec:
  namespaces: [helpdesk]
---
${RIGHT["gateway.yaml"].replace("namespace: research-dev", "namespace: helpdesk").replace("research-main", "support-main")}---
${RIGHT["secret.yaml"].replace("namespace: research-dev", "namespace: helpdesk")}`;

/** What is right, with one text of one file in another's place. */
function changed(file: keyof typeof RIGHT, from: string, to: string): Readonly<Record<string, string>> {
  const text = RIGHT[file];
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
  return { ...RIGHT, [file]: text.replace(from, to) };
}

const command = "keyplane validate -f manifests";

export const MANIFEST_MISTAKES: readonly ManifestMistake[] = [
  {
    done: "A field is misspelt.",
    manifests: changed("key.yaml", "displayName", "dispayName"),
    command,
    says: "manifests/key.yaml:7:3: error: spec.dispayName: unknown field: did you mean displayName?",
  },
  {
    done: "A preset is written in another case.",
    manifests: changed("key.yaml", "scopes: [gateway:generate, gateway:routes]", "preset: Gatewaydefault"),
    command,
    says: 'manifests/key.yaml:8:11: error: spec.preset: unknown value "Gatewaydefault": did you mean GatewayDefault?',
  },
  {
    done: "A scope is misspelt.",
    manifests: changed("key.yaml", "gateway:generate", "gateway:genrate"),
    command,
    says: 'manifests/key.yaml:8:12: error: spec.scopes[0]: unknown value "gateway:genrate": did you mean gateway:generate?',
  },
  {
    done: "A network is named by an address in it.",
    manifests: changed("key.yaml", "  rotation:\n", "  allowedCIDRs: [10.0.0.1/8]\n  rotation:\n"),
    command,
    says: 'manifests/key.yaml:11:18: error: spec.allowedCIDRs[0]: "10.0.0.1/8" has bits behind its length: write 10.0.0.0/8 for the network, or 10.0.0.1/32 for this one address',
  },
  {
    done: "One scope is written where a list belongs.",
    manifests: changed("key.yaml", "[gateway:generate, gateway:routes]", "gateway:generate"),
    command,
    says: 'manifests/key.yaml:8:11: error: spec.scopes: must be a list: write ["gateway:generate"]',
  },
  {
    done: "The fields of the spec stand beside spec, and not under it.",
    manifests: changed(
      "key.yaml",
      RIGHT["key.yaml"].slice(RIGHT["key.yaml"].indexOf("  displayName")),
      "displayName: Docs agent\nscopes: [memory:read]\n",
    ),
    command,
    says: "manifests/key.yaml:7:1: error: displayName: is a field of spec: indent it under spec\nmanifests/key.yaml:8:1: error: scopes: is a field of spec: indent it under spec",
  },
  {
    done: "The apiVersion is another version's.",
    manifests: changed("key.yaml", "v1alpha1", "v1"),
    command,
    says: 'manifests/key.yaml:1:13: error: apiVersion: unknown apiVersion "keyplane.dev/v1" of PlatformKey: write keyplane.dev/v1alpha1 or keyplane.dev/v1beta1',
  },
  {
    done: "The kind is misspelt.",
    manifests: changed("key.yaml", "PlatformKey", "PlatfromKey"),
    command,
    says: 'manifests/key.yaml:2:7: error: kind: unknown kind "PlatfromKey": did you mean PlatformKey?',
  },
  {
    done: "The namespace is left out.",
    manifests: changed("key.yaml", "  namespace: research-dev\n", ""),
    command,
    says: "manifests/key.yaml:3:1: error: metadata.namespace: missing namespace: write metadata.namespace",
  },
  {
    done: "A duration is written in days.",
    manifests: changed("key.yaml", "720h", "30d"),
    command,
    says: 'manifests/key.yaml:12:15: error: spec.rotation.interval: "30d" is no duration: write hours, minutes and seconds, such as 720h or 1h30m (a day is 24h)',
  },
  {
    done: "A name is a number without quotes.",
    manifests: changed("key.yaml", "Docs agent", "2026"),
    command,
    says: 'manifests/key.yaml:7:16: error: spec.displayName: must be text: write it in quotes, "2026"',
  },
  {
    done: "The key expired before it was declared.",
    manifests: changed("key.yaml", "  rotation:", "  expiresAt: 2020-01-31T00:00:00Z\n  rotation:"),
    command,
    says: "manifests/key.yaml:11:3: warning: spec.expiresAt: is in the past, so that the key is refused: write a later time",
  },
  {
    done: "A line is indented with a tab.",
    manifests: changed("key.yaml", "  displayName", "\tdisplayName"),
    command,
    says: "manifests/key.yaml:7:1: error: this is not YAML: a tab indents this line: indent it with spaces",
  },
  {
    done: "A file was copied, and the name in it was left as it is.",
    manifests: { ...RIGHT, "key-copy.yaml": RIGHT["key.yaml"] },
    command,
    says: "manifests/key.yaml:4:9: error: metadata.name: PlatformKey research-dev/docs-agent is declared in manifests/key-copy.yaml:4 too: remove one of the two",
  },
  {
    done: "A key itself was put into its manifest.",
    manifests: changed("key.yaml", "  rotation:", `  key: inf_${"a1B2c3D4".repeat(7)}x\n  rotation:`),
    command,
    says: "manifests/key.yaml:11:3: error: spec.key: is no field and seems to hold a key: remove it, and revoke that key, since a file has it now. Keyplane mints a key into its Secret; spec.source imports one from a Secret",
  },
  {
    done: "The template is for MCP clients, and the key has no scope of the memory.",
    manifests: changed("key.yaml", "  rotation:", "  secret: { template: McpConfig }\n  rotation:"),
    command,
    says: "manifests/key.yaml:11:13: warning: spec.secret.template: McpConfig is of no use without a memory scope: add memory:read or memory:write to scopes",
  },
  {
    done: "The namespace is misspelt, so that it is no team's.",
    manifests: changed("key.yaml", "namespace: research-dev", "namespace: reserach-dev"),
    command,
    says: "manifests/key.yaml:5:14: warning: metadata.namespace: no PlatformTeam among these manifests claims namespace reserach-dev: did you mean research-dev?",
  },
  {
    done: "Two teams claim one namespace.",
    manifests: { ...RIGHT, "support.yaml": SUPPORT.replace("[helpdesk]", "[helpdesk, research-dev]") },
    command,
    says: "manifests/support.yaml:6:26: warning: spec.namespaces[1]: PlatformTeam research claims namespace research-dev too, and one team alone gets it: remove it from one of the two",
  },
  {
    done: "The gateway that a key is bound to is misspelt.",
    manifests: changed("key.yaml", "name: main", "name: mian"),
    command,
    says: "manifests/key.yaml:9:3: warning: spec.gatewayRef: there is no ModelGateway research-dev/mian among these manifests: did you mean main?",
  },
  {
    done: "A key is bound to another team's gateway.",
    manifests: {
      ...changed("key.yaml", "name: main", "name: main, namespace: helpdesk"),
      "support.yaml": SUPPORT,
    },
    command,
    says: "manifests/key.yaml:9:3: warning: spec.gatewayRef: ModelGateway helpdesk/main is of PlatformTeam support, and this is of PlatformTeam research: refer to one of the same team",
  },
  {
    done: "The Secret with the provider's credential is misspelt.",
    manifests: changed("gateway.yaml", "name: provider", "name: provder"),
    command,
    says: "manifests/gateway.yaml:13:7: warning: spec.upstreams[0].credentialRef: there is no Secret research-dev/provder among these manifests: did you mean provider?",
  },
  {
    done: "The key's Secret has the name of another Secret.",
    manifests: changed("key.yaml", "  rotation:", "  secret: { name: provider }\n  rotation:"),
    command,
    says: "manifests/key.yaml:11:19: warning: spec.secret.name: Secret research-dev/provider is declared among these manifests, and a key is never written into another owner's Secret: choose another spec.secret.name, or declare an applied key under another metadata.name",
  },
  {
    done: "A model is allowed that no route of the gateway has.",
    manifests: changed("key.yaml", "[fast-chat]", "[fast]"),
    command,
    says: "manifests/key.yaml:10:19: warning: spec.allowedModels[0]: no route of ModelGateway research-dev/main has it, and that gateway serves its routes alone: did you mean fast-chat?",
  },
  {
    done: "The base URL of a provider is the URL of a call.",
    manifests: changed("gateway.yaml", "https://api.openai.com", "https://api.openai.com/v1/chat/completions"),
    command,
    says: "manifests/gateway.yaml:12:7: warning: spec.upstreams[0].baseURL: ends in /chat/completions, and the path of each call is put behind it: leave /chat/completions out",
  },
  {
    done: "A key names its team.",
    manifests: changed("key.yaml", "  displayName: Docs agent", "  team: research"),
    command,
    says: "manifests/key.yaml:7:3: error: spec.team: unknown field: the team is the one that has this namespace in its spec.namespaces, so leave this out",
  },
  {
    done: "A gateway is named by a text, and not under name.",
    manifests: changed("key.yaml", "gatewayRef: { name: main }", "gatewayRef: main"),
    command,
    says: 'manifests/key.yaml:9:15: error: spec.gatewayRef: must be a mapping: write {name: "main"}',
  },
  {
    done: "A number stands where fields belong.",
    manifests: changed("key.yaml", "  rotation:", "  rateLimit: 60\n  rotation:"),
    command,
    says: "manifests/key.yaml:11:14: error: spec.rateLimit: must be a mapping with fields of these: requestsPerMinute, burst, tokensPerMinute, scope, concurrent",
  },
  {
    done: "A text has a colon in it, and no quotes.",
    manifests: changed("key.yaml", "Docs agent", "Docs: agent"),
    command,
    says: "manifests/key.yaml:7:16: error: this is not YAML: write a text that has a colon in it in quotes; or a line here is indented too far",
  },
  {
    done: "A list has no bracket at its end.",
    manifests: changed("key.yaml", "gateway:routes]", "gateway:routes"),
    command,
    says: "manifests/key.yaml:9:3: error: this is not YAML: a line here is indented otherwise than those beside it, or a bracket before it is not closed",
  },
  {
    done: "A merge has left its marks in the file.",
    manifests: changed("key.yaml", "  rotation:", "<<<<<<< HEAD\n  rotation:"),
    command,
    says: "manifests/key.yaml:11:1: error: this is not YAML: a line here has no colon: complete it, or remove what a merge has left",
  },
  {
    done: "A template of Helm's was not rendered.",
    manifests: changed("key.yaml", "namespace: research-dev", "namespace: {{ .Release.Namespace }}"),
    command,
    says: "manifests/key.yaml:5:15: error: metadata.namespace: a field's name must be plain text: render a template, which has {{ in it, before it is read",
  },
];
