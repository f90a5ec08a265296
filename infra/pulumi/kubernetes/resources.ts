/**
 * Resources of `keyplane/pulumi/kubernetes`: the declarations of `crds/` as typed Pulumi resources of a Kubernetes
 * cluster. The controller in the cluster owns the keys and writes them into Secrets, so a program's state holds no key.
 */
// This one file: the index of the package loads every kind there is.
import { CustomResource, type CustomResourceArgs } from "@pulumi/kubernetes/apiextensions/customResource.js";
import { all, type CustomResourceOptions, type Input, type Output, type Unwrap } from "@pulumi/pulumi";
import { API_VERSION, type Kind, type Status } from "../../../domain/kinds/kinds.ts";
import type {
  MemoryLibrarySpecArgs,
  ModelGatewaySpecArgs,
  PlatformKeyPolicySpecArgs,
  PlatformKeySpecArgs,
  PlatformTeamSpecArgs,
} from "./generated/specs.ts";

type SpecArgs = {
  PlatformKey: PlatformKeySpecArgs;
  PlatformTeam: PlatformTeamSpecArgs;
  PlatformKeyPolicy: PlatformKeyPolicySpecArgs;
  ModelGateway: ModelGatewaySpecArgs;
  MemoryLibrary: MemoryLibrarySpecArgs;
};

/** Arguments of a declaration. */
export type DeclarationArgs<K extends Kind> = {
  /** Name, namespace, labels and annotations. Pulumi derives a name from the resource's if it is left out. */
  metadata?: NonNullable<CustomResourceArgs["metadata"]>;
  /** Spec of the declaration. */
  spec: Input<SpecArgs[K]>;
};

class Declaration<K extends Kind> extends CustomResource {
  declare readonly spec: Output<Unwrap<SpecArgs[K]>>;
  /** Status that Keyplane has written, as of the last update or refresh; undefined until there is one. */
  declare readonly status: Output<Status<K> | undefined>;

  constructor(kind: K, name: string, args: DeclarationArgs<K>, opts?: CustomResourceOptions) {
    super(name, { ...args, apiVersion: API_VERSION, kind, status: undefined }, opts);
  }
}

/** Key. The controller mints it, and writes it into a Secret and nowhere else. */
export class PlatformKey extends Declaration<"PlatformKey"> {
  /** Secret and data key of the key, in the form of a container's `valueFrom.secretKeyRef`. */
  readonly secretRef: Output<{ name: string; key: string }>;

  constructor(name: string, args: DeclarationArgs<"PlatformKey">, opts?: CustomResourceOptions) {
    super("PlatformKey", name, args, opts);
    this.secretRef = all([this.metadata, this.spec]).apply(([metadata, { secret }]) => ({
      name: secret?.name ?? metadata.name,
      key: secret?.dataKey ?? "api-key",
    }));
  }
}

/** Team: its namespaces, and the people who may see and manage its keys. Cluster-wide. */
export class PlatformTeam extends Declaration<"PlatformTeam"> {
  constructor(name: string, args: DeclarationArgs<"PlatformTeam">, opts?: CustomResourceOptions) {
    super("PlatformTeam", name, args, opts);
  }
}

/** Policy with a platform's rules for the keys of its teams. Cluster-wide. */
export class PlatformKeyPolicy extends Declaration<"PlatformKeyPolicy"> {
  constructor(name: string, args: DeclarationArgs<"PlatformKeyPolicy">, opts?: CustomResourceOptions) {
    super("PlatformKeyPolicy", name, args, opts);
  }
}

/** Gateway to model providers. */
export class ModelGateway extends Declaration<"ModelGateway"> {
  constructor(name: string, args: DeclarationArgs<"ModelGateway">, opts?: CustomResourceOptions) {
    super("ModelGateway", name, args, opts);
  }
}

/** Library of atoms. */
export class MemoryLibrary extends Declaration<"MemoryLibrary"> {
  constructor(name: string, args: DeclarationArgs<"MemoryLibrary">, opts?: CustomResourceOptions) {
    super("MemoryLibrary", name, args, opts);
  }
}
