import type { Logger } from '../../shared/runtime/logger.ts';
import { idOfSpec } from '../workers/registry.ts';
import type { ActorSpec } from '../workers/registry.ts';
import type { Membership } from './membership.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';

export type PlacementOptions = {
  readonly supervisor: Pick<Supervisor, 'run' | 'remove'>;
  readonly membership: Pick<Membership, 'owns' | 'untilShared'>;
  /** Called with the live instances once this process runs no actor that another of these instances owns. */
  readonly onLetGo: (instances: readonly string[]) => void;
  readonly logger: Logger;
};

/** Decides which actors run in this process: those that this instance owns among the live instances. */
export class Placement {
  readonly #options: PlacementOptions;
  readonly #wanted = new Map<string, ActorSpec>();
  #waiting = 0;
  #changes = 0;

  constructor(options: PlacementOptions) {
    this.#options = options;
  }

  /** Number of actors that wait here until other instances have released theirs. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Adds an actor that some instance has to run; settles when it runs here or another instance owns it. */
  async want(spec: ActorSpec): Promise<void> {
    const actorId = idOfSpec(spec);
    this.#wanted.set(actorId, spec);
    await this.#assign(actorId);
  }

  /**
   * Call when no instance has to run the actor any more. Settles when the actor no longer runs here; true if this
   * instance owns it.
   */
  async drop(actorId: string): Promise<boolean> {
    this.#wanted.delete(actorId);
    await this.#options.supervisor.remove(actorId);
    return this.#options.membership.owns(actorId);
  }

  /**
   * Call when instances have joined or left: stops actors that others own now, reports that, and starts actors owned
   * here.
   */
  async reassign(instances: readonly string[]): Promise<void> {
    const { supervisor, membership, onLetGo, logger } = this.#options;
    this.#changes += 1;
    const change = this.#changes;
    const starting: Promise<void>[] = [];
    const ending: Promise<void>[] = [];
    for (const actorId of this.#wanted.keys()) {
      if (membership.owns(actorId)) starting.push(this.#assign(actorId));
      else ending.push(supervisor.remove(actorId));
    }
    await Promise.all(ending);
    if (change === this.#changes) onLetGo(instances);
    await Promise.all(starting).catch((error: unknown) => logger.error({ err: error }, 'assigning actors failed'));
  }

  async #assign(actorId: string): Promise<void> {
    const { supervisor, membership } = this.#options;
    this.#waiting += 1;
    await membership.untilShared().finally(() => {
      this.#waiting -= 1;
    });
    const spec = this.#wanted.get(actorId);
    if (spec !== undefined && membership.owns(actorId)) await supervisor.run(spec);
  }
}
