// The address at which a person approves a draft.

/** The page of the console for a draft of an agent, at this server. */
export const draftLink = (serverUrl: string, agent: string, draftId: string): string =>
  `${serverUrl}/console/approvals/${encodeURIComponent(agent)}/${encodeURIComponent(draftId)}`
