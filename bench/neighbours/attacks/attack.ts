import type { ControlAccess } from '../../system/control-client.ts';

/** Addresses, account and keys of an attack, sent unchanged to the attacking process. */
export type Target = {
  readonly gatewayUrl: string;
  readonly controlUrl: string;
  readonly databaseUrl: string;
  readonly accountId: string;
  readonly apiKey: string;
  /** Key of the account's source. */
  readonly token: string;
};

/** What `prepare` gets to set up the attacking account. */
export type Ground = {
  readonly control: ControlAccess;
  /** URL of a path at a sink that accepts everything. */
  sinkUrl(path: string): string;
  /** URL of a destination that behaves like this; see `hostile-main.ts`. */
  hostileUrl(behaviour: 'alternate' | 'fail-half' | 'hang'): string;
  /** A URL without a listener. */
  readonly deadUrl: string;
  /** URL with a host name for which no name server answers. */
  silentUrl(name: string): string;
};

/** What the attacker counts. */
export type Tally = {
  /** Size of the bodies that the gateway accepted. */
  acceptedBytes: number;
  /** Number of responses by status; `none` counts requests without a response. */
  readonly answers: Record<string, number>;
};

/** Values from the set-up that the attack needs, such as ids. */
export type Facts = Readonly<Record<string, string>>;

/** An attack: one file, and an entry in the registry. */
export type Attack = {
  readonly name: string;
  readonly summary: string;
  /** Also runs one compute-bound program per core, at normal priority. */
  readonly fillsProcessors?: true;
  /** The attack leaves a long backlog, so the quiet account is also measured after the attack. */
  readonly leavesMuch?: true;
  /** Settings of the services that differ from other scenarios. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * The responses that show that the attack happens, as in `Tally`, and how many of them per second it is to get;
   * without `perS` it repeats its requests as fast as they are answered.
   */
  readonly expects?: { readonly answers: readonly string[]; readonly perS?: number };
  /** Sets up the draft of the attacking account, which is published afterwards. */
  prepare(ground: Ground): Promise<Facts>;
  /** Adds the database rows of several months of the account's events. Called once, before any measurement. */
  fill?(target: Target): Promise<void>;
  /** Attacks until `signal` is aborted, and leaves no process behind. */
  run(strike: Strike): Promise<void>;
};

export type Strike = {
  readonly target: Target;
  readonly facts: Facts;
  readonly tally: Tally;
  readonly signal: AbortSignal;
};

/** Adds a destination with batches of 100 to the draft and returns its id. */
export async function addDestination({ control }: Pick<Ground, 'control'>, url: string): Promise<string> {
  const { id } = await control.call('POST', 'destinations', {
    type: 'HTTPDestination',
    name: 'attacked',
    settings: { httpDestinationUrl: url, method: 'POST', batchSize: '100' },
  });
  return String(id);
}

/** Sets up an account whose attack only sends events, with a destination that accepts everything. */
export async function addSinkDestination(ground: Ground): ReturnType<Attack['prepare']> {
  await addDestination(ground, ground.sinkUrl('attacked/1'));
  return {};
}
