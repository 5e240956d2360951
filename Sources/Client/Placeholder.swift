// Client
