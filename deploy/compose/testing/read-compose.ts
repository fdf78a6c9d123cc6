import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';

/** The parts of a compose file that tests read. */
export type ComposeService = {
  readonly image: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly secrets?: readonly string[];
  readonly networks?: readonly string[] | Readonly<Record<string, { readonly ipv4_address?: string }>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly privileged?: boolean;
  readonly tmpfs?: readonly string[];
  readonly restart?: string;
};

export type ComposeNetwork = {
  readonly ipam: { readonly config: readonly { readonly subnet: string; readonly ip_range?: string }[] };
};

export type Compose = {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, ComposeNetwork>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
};

/** A file of deploy/compose. */
export const readHere = (name: string): Promise<string> =>
  readFile(new URL(`deploy/compose/${name}`, topFolder), 'utf8');

/** compose.yaml with an empty .env: anchors and merges resolved, defaults substituted for variables. */
export async function readCompose(): Promise<Compose> {
  const text = await readHere('compose.yaml');
  return parse(text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'), { merge: true }) as Compose;
}

/** Services that run our code, by name, with their commands. */
export const ownServices = ({ services }: Compose): [name: string, service: ComposeService][] =>
  Object.entries(services).filter(([, { image }]) => image === 'sluice');
