/** What the users of a run have asked for so far: the moves choose from it, and the end is compared with it. */

/** A PlatformKey's spec as a manifest has it. */
export type KeySpec = {
  displayName?: string;
  preset?: string;
  scopes?: string[];
  state?: "Active" | "Suspended" | "Revoked";
  gatewayRef?: { name: string };
  libraryAccess?: { mode: string; libraryRefs?: { name: string }[] };
  expiresAfter?: string | null;
  expiresAt?: string | null;
  source?: { type: string; secretRef?: { name: string; key: string }; hash?: { sha256: string; prefix: string } };
  rotation: { trigger: string; interval?: string; overlap?: Overlap };
  rateLimit?: { requestsPerMinute: number };
  secret: {
    name?: string;
    dataKey?: string;
    creationPolicy?: "Owner" | "Orphan";
    onLost?: "Rotate" | "Report";
    onTampered?: "Rotate" | "Report";
    template?: string | null;
  };
  restartTargets?: { kind: string; name: string }[];
  deletionPolicy?: "Revoke" | "Retain";
  deletionProtection?: boolean;
};

export type Overlap =
  | { mode: "Fixed"; duration: string }
  | { mode: "Adoption"; min: string; max: string; quiet: string };

/** One declaration, from its creation to its end; the same name made again is another. */
export type ModelDeclaration = {
  readonly title: string;
  readonly namespace: string;
  readonly name: string;
  readonly secretName: string;
  readonly dataKey: string;
  readonly spec: KeySpec;
  /** Once it has been created. */
  uid: string | undefined;
  /** How many secrets may have been minted for it at most, but for those of an interval. */
  causes: number;
  /** How many more may have been minted and given up, since what a user did kept them from being delivered. */
  holds: number;
  readonly createdAt: number;
  /** The shortest interval that it ever had, in milliseconds. */
  readonly interval: number | undefined;
  deleting: boolean;
  revokedByHand: boolean;
  /** Its namespace went from one team to another, or to none. */
  moved: boolean;
  /** Of an import by Secret or by hash. */
  readonly imported: string | undefined;
};

export type Model = {
  /** The declarations that are there, by namespace and name. */
  readonly declared: Map<string, ModelDeclaration>;
  /** Those that were there. */
  readonly former: ModelDeclaration[];
  /** The namespaces of each team. */
  readonly teams: ReadonlyMap<string, Set<string>>;
  /** Secrets of other owners, by namespace and name, with the title that acts on them are asked for in. */
  readonly unmanaged: Map<string, string>;
  /** Values that were written into Secrets by hand and must never become keys. */
  readonly planted: Set<string>;
  /** Owner uids whose finalizer was stripped by hand: what they stand for may end a while after them. */
  readonly stripped: Set<string>;
  /** The value that was last written into a Secret by hand, by namespace and name. */
  readonly edited: Map<string, string>;
  /** Every name of a Secret that a key ever had, by namespace and name. */
  readonly secretNames: Set<string>;
};

export const NAMESPACES = ["dev", "prod", "lab", "ops", "web", "edge"] as const;
export const TEAMS = ["research", "platform", "product"] as const;

export function newModel(): Model {
  const teams = new Map<string, Set<string>>(TEAMS.map((team) => [team, new Set()]));
  NAMESPACES.forEach((namespace, index) => {
    teams.get(TEAMS[index % TEAMS.length] ?? TEAMS[0])?.add(namespace);
  });
  return {
    declared: new Map(),
    former: [],
    teams,
    unmanaged: new Map(),
    planted: new Set(),
    stripped: new Set(),
    edited: new Map(),
    secretNames: new Set(),
  };
}

export function teamOf(model: Model, namespace: string): string | undefined {
  return TEAMS.find((team) => model.teams.get(team)?.has(namespace));
}

/** The declared and those before them. */
export function everDeclared(model: Model): ModelDeclaration[] {
  return [...model.declared.values(), ...model.former];
}

/** A declaration's end: it is history from here on, whatever the cluster has yet to do. */
export function forget(model: Model, one: ModelDeclaration): void {
  model.declared.delete(one.title);
  model.former.push(one);
}
