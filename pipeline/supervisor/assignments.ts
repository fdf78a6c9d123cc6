import type { Logger } from '../../shared/process/logger.ts';
import { actorIdOf } from '../host/messages.ts';
import type { ActorSpec } from '../host/messages.ts';
import type { PartitionLeases } from './partition-leases.ts';
import type { Supervisor } from './supervisor.ts';

export type AssignmentsOptions = {
  readonly supervisor: Pick<Supervisor, 'run' | 'remove'>;
  readonly owns: (actorId: string) => boolean;
  readonly leases: Pick<PartitionLeases, 'want' | 'giveBack'>;
  readonly logger: Logger;
};

/** Which of all actors run in this process: those it owns among the instances alive. */
export class Assignments {
  readonly #options: AssignmentsOptions;
  readonly #wanted = new Map<string, ActorSpec>();

  constructor(options: AssignmentsOptions) {
    this.#options = options;
  }

  /** An actor some instance has to run; settles when it runs, or is not ours. */
  async want(spec: ActorSpec): Promise<void> {
    const actorId = actorIdOf(spec);
    this.#wanted.set(actorId, spec);
    await this.#assign(actorId, spec);
  }

  /** Nobody has to run it any more. Settles when it does not run here; says whether it was ours. */
  async drop(actorId: string): Promise<boolean> {
    this.#wanted.delete(actorId);
    await this.#options.supervisor.remove(actorId);
    return this.#options.owns(actorId);
  }

  /** Instances have come or gone. */
  reassign(): void {
    for (const [actorId, spec] of this.#wanted) {
      this.#assign(actorId, spec).catch((error: unknown) => {
        this.#options.logger.error({ actor: actorId, err: error }, 'assigning an actor failed');
      });
    }
  }

  /** The lease of a partition is ours. */
  leaseHeld(partition: number): void {
    const spec: ActorSpec = { kind: 'resolver', partition };
    if (this.#options.owns(actorIdOf(spec))) void this.#options.supervisor.run(spec);
  }

  /** The lease of a partition is somebody else's. */
  leaseLost(partition: number): void {
    const actorId = actorIdOf({ kind: 'resolver', partition });
    this.#options.logger.warn({ actor: actorId }, 'lost the lease of a partition, its resolver stops');
    void this.#options.supervisor.remove(actorId);
  }

  async #assign(actorId: string, spec: ActorSpec): Promise<void> {
    const { supervisor, owns, leases } = this.#options;
    if (!owns(actorId)) {
      await supervisor.remove(actorId);
      if (spec.kind === 'resolver') await leases.giveBack(spec.partition);
    } else if (spec.kind === 'resolver') {
      leases.want(spec.partition);
    } else {
      await supervisor.run(spec);
    }
  }
}
