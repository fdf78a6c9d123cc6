import type { RecorderContext } from '../recent/recorder-context.ts';
import type { Recorder } from '../recent/recorder.ts';
import type { IdentityStore } from './identity-writer.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { PersonalDataStore } from './personal-data-writer.ts';
import type { ViolationStore } from './violation-writer.ts';

export type ResolverOptions = Omit<
  ResolverContext,
  | 'deduplication'
  | 'writer'
  | 'visitorLimit'
  | 'visitorsCut'
  | 'visitorsFull'
  | 'identity'
  | 'personalData'
  | 'plan'
  | 'counts'
  | 'signal'
  | 'eventWriters'
  | 'frameWriters'
> & {
  readonly violationStore: ViolationStore;
  /** The database table that counts identifiers that were not given to a visitor. */
  readonly identityStore: IdentityStore;
  readonly personalDataStore: PersonalDataStore;
  /** Opens the recorder that writes the resolver's events to the recent-events view. */
  openRecorder(
    resolver: Omit<RecorderContext, 'partitions' | 'pool' | 'settings'>,
  ): Promise<Pick<Recorder, 'note' | 'gauges' | 'close'>>;
};
