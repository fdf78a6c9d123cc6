import { useState } from 'react';
import type { ReactElement } from 'react';
import { useChange, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { BacklogLeft, PublishedVersion, Version } from '../api/types.ts';
import { Confirm } from '../design/confirm.tsx';
import { Waiting } from '../design/feedback.tsx';
import { Check } from '../design/field.tsx';
import { countOf } from '../design/numbers.ts';
import { Backlogs } from './backlogs.tsx';

export type RollBackProps = {
  readonly version: Version;
  readonly changes: number;
  readonly onPublished: (published: PublishedVersion) => void;
  readonly onDone: () => void;
};

/** Asks for confirmation before a version is published, or published again. */
export function RollBack({ version, changes, onPublished, onDone }: RollBackProps): ReactElement {
  const isBack = version.publishedAt !== null;
  const [isForced, setForced] = useState(false);
  const [reverts, setReverts] = useState(isBack);
  const backlogs = useRead<{ readonly entities: readonly BacklogLeft[] }>(`/versions/${version.id}/backlogs`);
  const publish = useChange(() =>
    request<PublishedVersion>('POST', `/versions/${version.id}/publish`, {
      ...(isForced ? { force: true } : {}),
      ...(isBack && reverts ? { revertDraft: true } : {}),
    }),
  );
  return (
    <Confirm
      title={isBack ? `Roll back to version ${version.versionNumber}?` : `Publish version ${version.versionNumber}?`}
      action={isBack ? 'Roll back' : 'Publish'}
      onDone={onDone}
      onConfirm={async () => onPublished(await publish.mutateAsync(undefined))}
    >
      <p>
        {countOf(changes, 'change')} {changes === 1 ? 'takes' : 'take'} effect in every process at once.
      </p>
      {isBack ? (
        <>
          <Check label="Also revert these changes in the draft" checked={reverts} onChange={setReverts} />
          <p className="hint">
            {reverts
              ? 'Later edits in the draft are kept.'
              : 'They stay in the draft and go live again with the next publish.'}
          </p>
        </>
      ) : (
        <p>The draft stays as it is.</p>
      )}
      <Waiting query={backlogs} />
      <Backlogs left={backlogs.data?.entities ?? []} isForced={isForced} onForced={setForced} />
    </Confirm>
  );
}
