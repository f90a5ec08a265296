/**
 * What `keyplane/pulumi/kubernetes` is: the declarations of `crds/` as typed Pulumi resources of a Kubernetes cluster.
 * The controller in the cluster owns the keys and writes them into Secrets, so that a program's state holds none.
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

/** What a declaration of that kind is made of. */
export type DeclarationArgs<K extends Kind> = {
  /** Name, namespace, labels, annotations. Pulumi makes a name of the resource's where it is left out. */
  metadata?: NonNullable<CustomResourceArgs["metadata"]>;
  /** What it is to be. */
  spec: Input<SpecArgs[K]>;
};

class Declaration<K extends Kind> extends CustomResource {
  declare readonly spec: Output<Unwrap<SpecArgs[K]>>;
  /** What Keyplane says of it, as of the last update or refresh; undefined until it has said something. */
  declare readonly status: Output<Status<K> | undefined>;

  constructor(kind: K, name: string, args: DeclarationArgs<K>, opts?: CustomResourceOptions) {
    super(name, { ...args, apiVersion: API_VERSION, kind, status: undefined }, opts);
  }
}

/** A key: the controller mints it, and writes it into a Secret and nowhere else. */
export class PlatformKey extends Declaration<"PlatformKey"> {
  /** Where the key is, to be used as it is in a container's `valueFrom.secretKeyRef`. */
  readonly secretRef: Output<{ name: string; key: string }>;

  constructor(name: string, args: DeclarationArgs<"PlatformKey">, opts?: CustomResourceOptions) {
    super("PlatformKey", name, args, opts);
    this.secretRef = all([this.metadata, this.spec]).apply(([metadata, { secret }]) => ({
      name: secret?.name ?? metadata.name,
      key: secret?.dataKey ?? "api-key",
    }));
  }
}

/** A team: its namespaces, and who may see and manage its keys. Of the whole cluster. */
export class PlatformTeam extends Declaration<"PlatformTeam"> {
  constructor(name: string, args: DeclarationArgs<"PlatformTeam">, opts?: CustomResourceOptions) {
    super("PlatformTeam", name, args, opts);
  }
}

/** What a platform asks of the keys of its teams. Of the whole cluster. */
export class PlatformKeyPolicy extends Declaration<"PlatformKeyPolicy"> {
  constructor(name: string, args: DeclarationArgs<"PlatformKeyPolicy">, opts?: CustomResourceOptions) {
    super("PlatformKeyPolicy", name, args, opts);
  }
}

/** A gateway to model providers. */
export class ModelGateway extends Declaration<"ModelGateway"> {
  constructor(name: string, args: DeclarationArgs<"ModelGateway">, opts?: CustomResourceOptions) {
    super("ModelGateway", name, args, opts);
  }
}

/** A library of atoms. */
export class MemoryLibrary extends Declaration<"MemoryLibrary"> {
  constructor(name: string, args: DeclarationArgs<"MemoryLibrary">, opts?: CustomResourceOptions) {
    super("MemoryLibrary", name, args, opts);
  }
}
