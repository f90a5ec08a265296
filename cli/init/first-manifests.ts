import { API_VERSION } from "../../domain/kinds/kinds.ts";
import { writeYaml } from "../../domain/manifest/document/write-yaml.ts";
import { CREDENTIAL_PLACEHOLDER } from "../../domain/manifest/set/set-warnings.ts";
import { manifestSchema } from "../../domain/manifest/validation/json-schema.ts";

/** File that `keyplane init` writes, and what it is for. */
export type FirstFile = { readonly file: string; readonly text: string; readonly is: string };

/**
 * Returns manifests of a team, a library, a gateway and a key. File names are numbered, since kubectl applies files in
 * the order of their names, and a namespace must exist before its objects.
 *
 * @param team the team's name
 * @param namespace the team's first namespace
 */
export function firstManifests(team: string, namespace: string): FirstFile[] {
  const [teamWord, namespaceWord] = [word(team), word(namespace)];
  return [
    { file: "10-team.yaml", text: teamFile(teamWord, namespaceWord), is: "the team, its namespace, a memory library" },
    { file: PROVIDER_FILE, text: providerFile(namespaceWord), is: "the provider's credential, which you put in" },
    { file: "20-gateway.yaml", text: gatewayFile(namespaceWord, word(`${namespace}-main`)), is: "a model gateway" },
    { file: "30-keys.yaml", text: keysFile(namespaceWord), is: "the first key" },
    { file: SCHEMA_FILE, text: `${JSON.stringify(manifestSchema())}\n`, is: "what editors check the manifests by" },
    { file: ".gitignore", text: `# A credential.\n${PROVIDER_FILE}\n`, is: "keeps the credential out of Git" },
  ];
}

/** File with a credential. */
export const PROVIDER_FILE = "15-provider-secret.yaml";

/** File of the JSON Schema. Its extension is not that of a manifest, so that kubectl does not apply it. */
const SCHEMA_FILE = ".manifest.schema";

/** Head of each document, by which yaml-language-server, and so most editors, finds the schema. */
const HEAD = `# yaml-language-server: $schema=${SCHEMA_FILE}
apiVersion: ${API_VERSION}`;

/** Returns a name quoted so that YAML reads it as text: `on` and `1e3` are valid names. */
function word(name: string): string {
  return writeYaml({ _: name }).slice("_: ".length).trimEnd();
}

const teamFile = (team: string, namespace: string) => `# Of use on Kubernetes alone; keyplane up passes it over.
apiVersion: v1
kind: Namespace
metadata:
  name: ${namespace}
---
# A team owns namespaces: the keys, libraries and gateways in them are its own, whatever is written in them.
${HEAD}
kind: PlatformTeam
metadata:
  name: ${team}
spec:
  namespaces: [${namespace}]
  # Who may see and manage its keys in the console, by groups and people of your identity provider:
  # members:
  #   - { role: admin, group: platform-leads }
  #   - { role: viewer, subject: auditor@example.com }
  mcpAgentPolicy:
    # Where an agent's memory goes when neither its key nor its call names a library.
    defaultLibraryRef: { namespace: ${namespace}, name: handbook }
---
${HEAD}
kind: MemoryLibrary
metadata:
  name: handbook
  namespace: ${namespace}
spec:
  displayName: Handbook
  description: What everybody should know.
`;

const gatewayFile = (
  namespace: string,
  publicId: string,
) => `# Clients call /g/ and the public id, with their key; the provider's credential stays on the server's side.
${HEAD}
kind: ModelGateway
metadata:
  name: main
  namespace: ${namespace}
spec:
  publicID: ${publicId}
  upstreams:
    - name: openai
      dialect: openai
      baseURL: https://api.openai.com
      credentialRef: { name: provider, key: api-key }
  routes:
    # Clients ask for fast-chat; which model that is, is decided here.
    - model: fast-chat
      routeID: rt-fast
      upstream: openai
      upstreamModel: gpt-5-mini
`;

const keysFile = (
  namespace: string,
) => `# Minted once, and written to a Secret: with keyplane up to DATA/secrets/<namespace>/<name>/api-key.
${HEAD}
kind: PlatformKey
metadata:
  name: first-app
  namespace: ${namespace}
spec:
  displayName: First app
  # Not more than it needs: it remembers, searches, and asks models through the one gateway, by the names of its routes.
  scopes: [memory:read, memory:write, gateway:generate, gateway:routes]
  gatewayRef: { name: main }
  libraryAccess:
    mode: Restricted
    libraryRefs: [{ name: handbook }]
  mcpDefaultLibraryRef: { name: handbook }
  # A new version every 30 days; the old one works beside it for two more.
  rotation:
    interval: 720h
    overlap: { mode: Fixed, duration: 48h }
`;

const providerFile = (
  namespace: string,
) => `# Not for Git. In production, make this Secret by other means: an external secret, or kubectl create secret.
apiVersion: v1
kind: Secret
metadata:
  name: provider
  namespace: ${namespace}
stringData:
  api-key: ${CREDENTIAL_PLACEHOLDER}
`;
