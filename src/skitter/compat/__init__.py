"""Other systems' names on ours: a project moves by changing where it imports from."""
