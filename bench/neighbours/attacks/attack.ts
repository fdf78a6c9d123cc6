import type { ControlAccess } from '../../system/control-client.ts';

/** The attack's targets and keys: sent to the attacking process unchanged. */
export type Target = {
  readonly gatewayUrl: string;
  readonly controlUrl: string;
  readonly databaseUrl: string;
  readonly accountId: string;
  readonly apiKey: string;
  /** Key of the account's source. */
  readonly token: string;
};

/** What the attacking account needs to create destinations, like any account. */
export type Ground = {
  readonly control: ControlAccess;
  /** Address of a path at a sink that accepts everything. */
  sinkUrl(path: string): string;
  /** Address of a destination whose path selects its behaviour: see `hostile-main.ts`. */
  hostileUrl(behaviour: 'alternate' | 'fail-half' | 'hang'): string;
  /** An address without a listener. */
  readonly deadUrl: string;
  /** Address with a name that no name server resolves. */
  silentUrl(name: string): string;
};

/** The attack's results from the attacker's point of view. */
export type Tally = {
  /** Bytes of bodies that the gateway accepted. */
  acceptedBytes: number;
  /** Responses by status; `none` where there was none. */
  readonly answers: Record<string, number>;
};

/** Values from the account's set-up that the attack needs, such as ids. */
export type Facts = Readonly<Record<string, string>>;

/** One attack: a file, and one line in the registry. */
export type Attack = {
  readonly name: string;
  readonly summary: string;
  /** Also runs compute-bound programs at normal priority, one for each core. */
  readonly fillsProcessors?: true;
  /** The attack's backlog lasts long: the quiet account is measured afterwards too. */
  readonly leavesMuch?: true;
  /** Service settings that differ from other scenarios. */
  readonly env?: Readonly<Record<string, string>>;
  /** Sets up the attacking account's draft; it is published after that. */
  prepare(ground: Ground): Promise<Facts>;
  /** Adds the database rows of several months of the account's events. Called once, before any measurement. */
  fill?(target: Target): Promise<void>;
  /** Runs until it is stopped, and leaves no process behind. */
  run(strike: Strike): Promise<void>;
};

export type Strike = {
  readonly target: Target;
  readonly facts: Facts;
  readonly tally: Tally;
  readonly signal: AbortSignal;
};

/** Adds an accepting or refusing destination and returns its id. */
export async function addDestination({ control }: Pick<Ground, 'control'>, url: string): Promise<string> {
  const { id } = await control.call('POST', 'destinations', {
    type: 'HTTPDestination',
    name: 'attacked',
    settings: { httpDestinationUrl: url, method: 'POST', batchSize: '100' },
  });
  return String(id);
}

/** The set-up of an account that only sends: a destination that accepts everything. */
export async function addSinkDestination(ground: Ground): ReturnType<Attack['prepare']> {
  await addDestination(ground, ground.sinkUrl('attacked/1'));
  return {};
}
