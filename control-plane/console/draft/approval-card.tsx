import { useState } from 'react';
import type { ReactElement } from 'react';
import { useAccounts, useScope } from '../api/accounts.ts';
import { useChange, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Account, Approval, Page as PageOf, Version } from '../api/types.ts';
import { ErrorNote, State } from '../design/feedback.tsx';
import type { Tone } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card } from '../design/page.tsx';
import { At } from '../design/time.tsx';
import { EditForm } from '../forms/edit-form.tsx';

/**
 * Whether only approved versions go live. False if this key cannot read the account; the server enforces the setting
 * anyway.
 */
export function useRequiresApproval(): boolean {
  const account = useRead<Account>('/account', { enabled: useScope('account:find') });
  return account.data?.requiresApproval === true;
}

/** The approval request of a version; undefined if there is none. */
export function useApproval(versionId: string): Approval | undefined {
  const mayList = useScope('version:list');
  const query = useRead<PageOf<Approval>>(`/approvals?versionId=${versionId}`, { enabled: mayList, everyMs: 10_000 });
  return query.data?.entities[0];
}

const states: Readonly<Record<Approval['status'], readonly [Tone, string]>> = {
  pending: ['warn', 'Waiting for approval'],
  approved: ['good', 'Approved'],
  rejected: ['bad', 'Rejected'],
  void: ['off', 'Void'],
  published: ['off', 'Approved and published'],
};

export function ApprovalState({ approval }: { readonly approval: Pick<Approval, 'status'> }): ReactElement {
  const [tone, word] = states[approval.status];
  return <State tone={tone}>{word}</State>;
}

type ApprovalCardProps = { readonly version: Version; readonly approval: Approval | undefined };

/** The state of a version's approval, and the next steps. */
export function ApprovalCard({ version, approval }: ApprovalCardProps): ReactElement | null {
  const isRequired = useRequiresApproval();
  const mayRequest = useScope('version:create') || useScope('version:publish');
  if (version.isPublished || (!isRequired && approval === undefined)) return null;
  const isOpen = approval?.status === 'pending' || approval?.status === 'approved';
  return (
    <Card title="Approval">
      {approval === undefined ? (
        <p>
          Another user or key must approve this version before it can be published. A key counts as the user who created
          it.
        </p>
      ) : (
        <dl className="facts">
          <dt>State</dt>
          <dd>
            <ApprovalState approval={approval} />
            {approval.voidBecause === null ? null : <span className="hint"> as {approval.voidBecause}</span>}
          </dd>
          <dt>Requested</dt>
          <dd>
            by <Actor name={approval.requestedByName} user={approval.requestedByUser} />,{' '}
            <At at={approval.requestedAt} />
            {approval.comment === null ? null : <p dir="auto">{approval.comment}</p>}
          </dd>
          {approval.decidedAt === null ? null : (
            <>
              <dt>Decided</dt>
              <dd>
                by <Actor name={approval.decidedByName ?? ''} user={approval.decidedByUser} />,{' '}
                <At at={approval.decidedAt} />
                {isUnsure(approval) ? (
                  <p className="note warn">
                    Sluice cannot verify that a second person approved this, because the creator of one of these keys is
                    unknown. To be certain, request and approve as users.
                  </p>
                ) : null}
                {approval.decisionComment === null ? null : <p dir="auto">{approval.decisionComment}</p>}
              </dd>
            </>
          )}
        </dl>
      )}
      {approval?.status === 'pending' ? <Decide approval={approval} /> : null}
      {!isOpen && isRequired && mayRequest ? <RequestApproval versionId={version.id} /> : null}
    </Card>
  );
}

type ActorProps = { readonly name: string; readonly user: string | null };

/** Shows who requested or decided: a user, or an API key with the user who created it. */
export function Actor({ name, user }: ActorProps): ReactElement {
  const whose = user === null ? ', an API key with an unknown creator' : `, an API key created by ${user}`;
  return (
    <>
      <span dir="auto">{name}</span>
      {user === name ? '' : whose}
    </>
  );
}

/** Whether requester and approver might be the same person: one of them is an API key with an unknown creator. */
const isUnsure = ({ status, decidedByUser, requestedByUser }: Approval): boolean =>
  (status === 'approved' || status === 'published') && (decidedByUser === null || requestedByUser === null);

function RequestApproval({ versionId }: { readonly versionId: string }): ReactElement {
  const [comment, setComment] = useState('');
  const ask = useChange((body: object) => request('POST', `/versions/${versionId}/request-approval`, body));
  return (
    <EditForm values={comment} save={ask} onSubmit={() => ask.mutate(comment === '' ? {} : { comment })}>
      <CommentField label="Comment for the reviewer" value={comment} onChange={setComment} />
      <ErrorNote error={ask.error} />
      <div className="row">
        <button className="primary" type="submit" disabled={ask.isPending}>
          Request approval
        </button>
      </div>
    </EditForm>
  );
}

function Decide({ approval }: { readonly approval: Approval }): ReactElement | null {
  const mayDecide = useScope('version:approve');
  const { current } = useAccounts();
  const [comment, setComment] = useState('');
  const decide = useChange((decision: 'approve' | 'reject') =>
    request('POST', `/versions/${approval.versionId}/${decision}`, comment === '' ? {} : { comment }),
  );
  if (!mayDecide) return null;
  const isOwn = approval.requestedById === (current?.user?.id ?? current?.keyId);
  return (
    <EditForm values={comment} save={decide} onSubmit={() => decide.mutate('approve')}>
      {isOwn ? (
        <p className="note">
          You requested this approval, so another user or key must decide. You can withdraw the request.
        </p>
      ) : null}
      <CommentField label="Comment" value={comment} onChange={setComment} />
      <ErrorNote error={decide.error} />
      <div className="row">
        {isOwn ? null : (
          <button className="primary" type="submit" disabled={decide.isPending}>
            Approve
          </button>
        )}
        <button type="button" disabled={decide.isPending} onClick={() => decide.mutate('reject')}>
          {isOwn ? 'Withdraw' : 'Reject'}
        </button>
      </div>
    </EditForm>
  );
}

type CommentFieldProps = {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
};

function CommentField({ label, value, onChange }: CommentFieldProps): ReactElement {
  return (
    <Field label={label}>
      {(ids) => (
        <textarea {...ids} maxLength={2_000} value={value} onChange={(event) => onChange(event.target.value)} />
      )}
    </Field>
  );
}
