import type { ControlAccess } from '../../system/control-client.ts';

/** Where an attack is aimed at, and with whose keys: it goes to the attacking process as it is. */
export type Target = {
  readonly gatewayUrl: string;
  readonly controlUrl: string;
  readonly databaseUrl: string;
  readonly accountId: string;
  readonly apiKey: string;
  /** Of the account's source. */
  readonly token: string;
};

/** What the attacking account may have sent to: it is set up as anybody sets up an account. */
export type Ground = {
  readonly control: ControlAccess;
  /** Address of a path at a sink that takes everything. */
  sinkUrl(path: string): string;
  /** Address of a destination that does what the path says: see `hostile-main.ts`. */
  hostileUrl(behaviour: 'alternate' | 'fail-half' | 'hang'): string;
  /** An address without a listener. */
  readonly deadUrl: string;
  /** Address of a name that no name server answers for. */
  silentUrl(name: string): string;
};

/** What an attack did, as the attacker sees it. */
export type Tally = {
  /** Bytes of bodies that the gateway took. */
  acceptedBytes: number;
  /** Answers, by status; `none` where there was none. */
  readonly answers: Record<string, number>;
};

/** What of an account's setting up the attack has to know, such as ids. */
export type Facts = Readonly<Record<string, string>>;

/** One way to hurt others: a file, and one line in the registry. */
export type Attack = {
  readonly name: string;
  readonly summary: string;
  /** Programs of the usual priority that only compute go on beside it, one a core. */
  readonly fillsProcessors?: true;
  /** What it leaves in the log goes on for long: the quiet account is measured after it, too. */
  readonly leavesMuch?: true;
  /** Settings of the services that are not those of the other scenarios. */
  readonly env?: Readonly<Record<string, string>>;
  /** Sets up the attacking account's draft; it is published after that. */
  prepare(ground: Ground): Promise<Facts>;
  /** Puts into the database what months of the account's events leave there. Called once, before anything is measured. */
  fill?(target: Target): Promise<void>;
  /** Runs until it is stopped, and then leaves nothing behind. */
  run(strike: Strike): Promise<void>;
};

export type Strike = {
  readonly target: Target;
  readonly facts: Facts;
  readonly tally: Tally;
  readonly signal: AbortSignal;
};

/** Adds a destination that takes what is sent, or does not, and returns its id. */
export async function addDestination({ control }: Pick<Ground, 'control'>, url: string): Promise<string> {
  const { id } = await control.call('POST', 'destinations', {
    type: 'HTTPDestination',
    name: 'attacked',
    settings: { httpDestinationUrl: url, method: 'POST', batchSize: '100' },
  });
  return String(id);
}

/** All the preparation of an account that only sends: a destination that takes everything. */
export async function addSinkDestination(ground: Ground): ReturnType<Attack['prepare']> {
  await addDestination(ground, ground.sinkUrl('attacked/1'));
  return {};
}
