import type { ReactElement, ReactNode } from 'react';
import type { Change } from '../api/types.ts';
import { State } from '../design/feedback.tsx';

const collections: Readonly<Record<string, string>> = {
  destinations: 'Destination',
  sources: 'Source',
  allowedEvents: 'Allowed event',
  externalAllowedEventData: 'Allowed event data',
  mappings: 'Mapping',
  consentSettings: 'Consent',
  globalDispatchCenters: 'Dispatch rules',
  replaySettings: 'Replay settings',
  tagManagers: 'Tag manager',
  tagManagerTags: 'Tag',
  tagManagerTriggers: 'Trigger',
  tagManagerVariables: 'Tag variable',
  dataGovernanceRules: 'Governance rule',
  dataGovernanceEvents: 'Governance event',
  experimentSettings: 'Experiment settings',
  experiments: 'Experiment',
  experimentVariants: 'Variant',
};

const kinds = {
  added: ['good', 'Added'],
  modified: ['warn', 'Changed'],
  removed: ['bad', 'Removed'],
} as const;

export type ChangeListProps = {
  readonly changes: readonly Change[];
  readonly action?: (change: Change) => ReactNode;
};

/** What changes, field by field. */
export function ChangeList({ changes, action }: ChangeListProps): ReactElement {
  return (
    <div className="stack">
      {changes.map((change) => {
        const [tone, word] = kinds[change.change];
        return (
          <section className="card" key={`${change.collection} ${change.id}`} aria-label={change.name || change.id}>
            <div className="body">
              <div className="row between">
                <div className="row">
                  <State tone={tone}>{word}</State>
                  <strong dir="auto">{change.name === '' ? change.id : change.name}</strong>
                  <span className="hint">{collections[change.collection] ?? change.collection}</span>
                </div>
                {action?.(change)}
              </div>
              <Fields change={change} />
            </div>
          </section>
        );
      })}
    </div>
  );
}

function Fields({ change }: { readonly change: Change }): ReactElement | null {
  // Of what is gone its name says enough.
  if (change.change === 'removed') return null;
  const fields = change.fields.filter((field) => change.change === 'modified' || !isEmpty(field.new));
  return (
    <dl className="facts">
      {fields.map((field) => (
        <Field key={field.path} path={field.path}>
          {field.old === undefined || change.change === 'added' ? null : (
            <>
              <del>
                <span className="hidden-text">was </span>
                {show(field.old)}
              </del>{' '}
            </>
          )}
          {field.new === undefined ? (
            <span className="soft">no longer set</span>
          ) : (
            <ins>
              <span className="hidden-text">is now </span>
              {show(field.new)}
            </ins>
          )}
        </Field>
      ))}
    </dl>
  );
}

function Field({ path, children }: { readonly path: string; readonly children: ReactNode }): ReactElement {
  return (
    <>
      <dt className="mono">{path}</dt>
      <dd>{children}</dd>
    </>
  );
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

function show(value: unknown): string {
  if (value === '********') return 'a secret';
  if (value === null) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
